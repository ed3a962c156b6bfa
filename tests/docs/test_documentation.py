"""Documents cannot drift from the program: settings, README's commands, decisions."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from driftwatch.settings import Settings
from driftwatch.web.pages.advice import TODO

REPOSITORY = Path(__file__).parents[2]
SETTINGS = REPOSITORY / "docs" / "settings.md"


def shown(default: object) -> str:
    """A default as the page shows it."""
    if default in (None, ()):
        return "unset"
    if isinstance(default, tuple):
        return f"`{','.join(str(part) for part in default)}`"
    return f"`{default}`"


def settings_table() -> str:
    """The table of all settings, from the class itself."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "per user, see below" if name == "home" else shown(field.get_default(call_default_factory=False))
        rows.append(f"| `DRIFTWATCH_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows)


def test_the_settings_page_lists_every_setting_with_its_default() -> None:
    assert settings_table() in SETTINGS.read_text(), "docs/settings.md is not current: paste the table below\n" + (
        settings_table()
    )


def test_every_setting_says_what_it_means() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_links_of_the_documents_lead_somewhere() -> None:
    missing = []
    for page in [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *(REPOSITORY / "docs").rglob("*.md")]:
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        missing += [f"{page.name} -> {t}" for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_every_decision_is_listed() -> None:
    adr = REPOSITORY / "docs" / "adr"
    index = (adr / "README.md").read_text()
    assert [page.name for page in adr.glob("0*.md") if page.name not in index] == []


def test_nobody_is_told_to_install_the_unrelated_package() -> None:
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    assert [page.name for page in pages if re.search(r"install (?:-\S+ )*driftwatch(?!-mcp)\b", page.read_text())] == []


def test_readme_names_only_targets_that_the_makefile_has() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)", (REPOSITORY / "README.md").read_text()))
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()


def test_the_agents_page_names_its_options() -> None:
    from driftwatch.cli.main import cli

    [command] = [one.callback for one in cli.registered_commands if one.name == "agent"]
    options = {f"--{name.replace('_', '-')}" for name in inspect.signature(command).parameters} - {"--target"}
    page = (REPOSITORY / "docs" / "agent.md").read_text()
    assert set(re.findall(r"`(--[a-z-]+)", page)) == options


def test_every_finding_is_documented_with_what_to_do() -> None:
    page = (REPOSITORY / "docs" / "conformance.md").read_text()
    told = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (?:tool|server|list)[a-z, ]* \| (.*) \|$", page, re.MULTILINE))
    own_words = {"invalid-definition", "version-is-the-sdks"}  # the first table; a rule of changes
    assert told == {rule: advice for rule, advice in TODO.items() if rule not in own_words}


def test_every_code_of_an_invalid_definition_is_documented() -> None:
    page = (REPOSITORY / "docs" / "conformance.md").read_text()
    capture = REPOSITORY / "driftwatch" / "capture"
    written = "".join(source.read_text() for source in capture.glob("*.py"))
    codes = set(re.findall(r'Invalid\(\s*f?"([a-z{][^"]*)"', written)) | set(re.findall(r'code = "([a-z-]+)"', written))
    codes = {code.replace("{part.value}", part) for code in codes for part in ("input", "output")} - {"capture-error"}
    assert {code for code in codes if f"`{code}`" not in page} == set()
