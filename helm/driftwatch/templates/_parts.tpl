{{/* What several manifests share. */}}

{{- define "driftwatch.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "driftwatch.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "driftwatch.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "driftwatch.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "driftwatch.selector" -}}
app.kubernetes.io/name: {{ include "driftwatch.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "driftwatch.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "driftwatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "driftwatch.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The same for every pod: roles, migrations, test. */}}
{{- define "driftwatch.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "driftwatch.container" -}}
image: {{ include "driftwatch.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "driftwatch.secretFiles" -}}
- name: secrets
  mountPath: /etc/driftwatch/secrets
  readOnly: true
{{- end }}

{{- define "driftwatch.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .Values.existingSecret }}
    defaultMode: 0440
    items:
      {{- range $name, $key := .Values.secretKeys }}
      {{- if $key }}
      - key: {{ $key }}
        path: {{ $name }}
      {{- end }}
      {{- end }}
{{- end }}

{{- define "driftwatch.env" -}}
- name: DRIFTWATCH_HOST
  value: {{ .Values.listenAddress | quote }}
- name: DRIFTWATCH_PORT
  value: "8787"
- name: DRIFTWATCH_HEALTH_PORT
  value: "8788"
- name: DRIFTWATCH_LOG_FORMAT
  value: {{ .Values.settings.LOG_FORMAT | default "json" | quote }}
{{- range $name, $key := .Values.secretKeys }}
{{- if $key }}
- name: DRIFTWATCH_{{ $name }}_FILE
  value: /etc/driftwatch/secrets/{{ $name }}
{{- end }}
{{- end }}
{{- range $name, $value := omit .Values.settings "LOG_FORMAT" }}
- name: DRIFTWATCH_{{ $name }}
  {{- /* numbers arrive as floats: 8388608 must not become 8.388608e+06 */}}
  {{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}
  value: {{ $value | int64 | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Replicas that are certain to be there, for the disruption budget. */}}
{{- define "driftwatch.fewest" -}}
{{- $autoscaling := .autoscaling | default dict -}}
{{- if $autoscaling.enabled }}{{ $autoscaling.minReplicas }}{{ else }}{{ .replicas }}{{ end -}}
{{- end }}
