# driftwatch without the embedded Postgres: give it DRIFTWATCH_DATABASE_URL. tests/image replays these instructions in a
# plain folder and starts the service from it, so RUN keeps to the working folder, $PREFIX and the base image's Python.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG PREFIX=/opt/driftwatch
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY driftwatch ./driftwatch
COPY docs/announce ./docs/announce
COPY alembic ./alembic
RUN python -m venv "$PREFIX" \
 && "$PREFIX/bin/python" -m pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt . \
 && "$PREFIX/bin/python" -m pip uninstall --yes --quiet pip setuptools

FROM ${BASE}
ARG PREFIX=/opt/driftwatch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="driftwatch" \
      org.opencontainers.image.description="Tells people when an MCP server changed a tool contract under them" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Nothing is installed in a running container, so what installs is not there.
RUN python -m pip uninstall --yes --quiet pip setuptools wheel
COPY --from=build ${PREFIX} ${PREFIX}
ENV PATH="${PREFIX}/bin:${PATH}" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DRIFTWATCH_HOME=/var/lib/driftwatch \
    DRIFTWATCH_HOST=0.0.0.0 \
    DRIFTWATCH_HEALTH_PORT=8788 \
    DRIFTWATCH_LOG_FORMAT=json
# Numeric, so that Kubernetes can see that it is not root. Nothing needs to be written: the root may be read-only.
USER 10001:10001
EXPOSE 8787 8788
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s --retries=3 CMD ["driftwatch", "health"]
ENTRYPOINT ["driftwatch"]
CMD ["serve"]
