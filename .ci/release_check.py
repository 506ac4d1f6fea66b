"""Check what a release needs, as far as one machine can; name the tools that are missing.

python .ci/release_check.py                       # all steps
python .ci/release_check.py versions --tag v1.2.3 # some
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Where the tools of the environment are that runs this.
BIN = Path(sys.executable).parent
#: Deliberate breaks of the crate's API. Until a release is tagged, its last commit is the baseline.
BREAKS = "rust/ordhc/api-breaks.txt"


class MissingError(Exception):
    """A tool, or what it needs, is not there."""


class FailedError(Exception):
    """Something is not as a release needs it."""


def tool(name, how):
    """Return the path of a program, beside this Python or on the path."""
    found = shutil.which(str(BIN / name)) or shutil.which(name)
    if found is None:
        raise MissingError(f"there is no {name}: {how}")
    return found


def run(*command, cwd=ROOT, without=None):
    """Return a command's output; raise an error if it failed or if `without` says what was missing."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        if without is not None and re.search(without, done.stdout):
            raise MissingError(
                next(line for line in done.stdout.splitlines() if re.search(without, line)).strip()
            )
        raise FailedError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def cargo(command, how, *arguments, without=None):
    """Run a command of cargo that is installed separately."""
    tool(f"cargo-{command}", how)
    return run("cargo", command, *arguments, without=without)


def text(path):
    """Return the text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")


def need(fine, what):
    """Fail unless something is fine."""
    if not fine:
        raise FailedError(what)


def versions(tag=None):
    """One version everywhere, and in the changelog if it is tagged."""
    found = {"pyproject.toml": tomllib.loads(text("pyproject.toml"))["project"]["version"]}
    found["Cargo.toml"] = tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["version"]
    for path, pattern in (
        ("python/ordhc/_version.py", r'__version__ = "(.*)"'),
        ("CITATION.cff", r"(?m)^version: (.*)$"),
        ("recipe/recipe.yaml", r'version: "(.*)"'),
    ):
        found[path] = re.search(pattern, text(path))[1]
    need(len(set(found.values())) == 1, f"versions differ: {found}")
    version = found["pyproject.toml"]
    if tag is not None:
        need(tag == f"v{version}", f"the tag is {tag}, the version {version}")
        need(f"## {version}" in text("CHANGELOG.md"), f"CHANGELOG.md has no section {version}")
    return version


def licences():
    """Compare the licences of dependencies with those of Cargo.lock."""
    run(sys.executable, ".ci/licences.py")


def deny():
    """Licences, sources and versions of crates; advisories where their list can be fetched."""
    how = "cargo install --locked cargo-deny"
    cargo("deny", how, "check", "bans", "licenses", "sources")
    cargo("deny", how, "check", "advisories", without="failed to fetch|failed to (open|acquire) advisory")


def audit():
    """Known weaknesses of the Python packages that are used."""
    program = tool("pip-audit", "pip install pip-audit")
    command = [program, "--local", "--skip-editable", "--progress-spinner", "off", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout.strip():
        raise MissingError(f"the list of weaknesses cannot be read: {done.stderr.strip()[-200:]}")
    packages = json.loads(done.stdout)["dependencies"]
    weak = [f"{one['name']} {one['version']}" for one in packages if one.get("vulns")]
    need(not weak, f"known weaknesses: {', '.join(weak)}\n{done.stderr[-2000:]}")
    unknown = [
        one["name"] for one in packages if "skip_reason" in one and not one["name"].startswith("ordhc")
    ]
    if unknown:
        raise MissingError(
            f"of {len(unknown)} of {len(packages)} packages nothing can be looked up from here"
        )


def api():
    """Compare the crate's public API with the list."""
    run("cargo", "doc", "--package", "ordhc", "--no-deps", "--locked", "--quiet")
    run(sys.executable, ".ci/public_api.py")


def baseline():
    """Return the revision to compare the crate's API with: the last release, or the last deliberate break."""
    git = ("git", "-C", ROOT)
    tags = run(*git, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-creatordate").split()
    if tags:
        return tags[0]
    found = run(*git, "log", "-1", "--format=%H", "--", BREAKS).strip()
    if not found or run(*git, "rev-parse", "--is-shallow-repository").strip() == "true":
        raise MissingError(f"no tag v*, and no commit of {BREAKS}: this clone has no history")
    return found


def semver():
    """Check that the crate's API has changed only as its version says since the last release."""
    cargo(
        "semver-checks",
        "cargo install --locked cargo-semver-checks",
        "--package",
        "ordhc",
        "--all-features",
        "--baseline-rev",
        baseline(),
    )


def crate():
    """Check that the crate can be published, with README, licence and examples."""
    files = run("cargo", "package", "--list", "--package", "ordhc", "--allow-dirty").split("\n")
    examples = [path.name for path in (ROOT / "rust/ordhc/examples").glob("*.rs")]
    for path in ("README.md", "LICENSE", *(f"examples/{name}" for name in examples)):
        need(path in files, f"the crate has no {path}")
    run("cargo", "publish", "--dry-run", "--locked", "--package", "ordhc", "--allow-dirty", "--quiet")


def citation():
    """CITATION.cff is valid."""
    run(tool("cffconvert", "pip install cffconvert"), "--validate")


def workflows():
    """GitHub's workflows, as zizmor sees them: what they may, and what they stand on."""
    run(tool("zizmor", "pip install zizmor"), "--offline", "--no-progress", "--quiet", ".github")


def syntax():
    """GitHub's workflows, as actionlint sees them: expressions and shell."""
    run(tool("actionlint", "https://github.com/rhysd/actionlint"))


def platforms():
    """There is a wheel of the stable ABI, and one without a global lock, for every platform."""
    program = tool("cibuildwheel", "pip install cibuildwheel")
    archs = {"linux": ("x86_64", "aarch64"), "macos": ("x86_64", "arm64"), "windows": ("AMD64", "ARM64")}
    for platform, each in archs.items():
        for arch in each:
            told = run(program, "--platform", platform, "--archs", arch, "--print-build-identifiers", ".")
            names = told.split()
            for python in ("cp311", "cp314t"):
                need(any(name.startswith(f"{python}-") for name in names), f"{platform} {arch}: {names}")
            if platform == "linux":
                need(len(names) == 4, f"{platform} {arch}: {names}")


def wheel():
    """Check the wheel: its stable ABI, list of crates, licences, data and README."""
    audit_abi = tool("abi3audit", "pip install abi3audit")
    twine = tool("twine", "pip install twine")
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ".")
        (path,) = Path(folder).glob("ordhc-*-cp311-abi3-*.whl")
        run(audit_abi, "--strict", path)
        run(twine, "check", "--strict", path)
        names = zipfile.ZipFile(path).namelist()
        for wanted in (
            r"ordhc/_ordhc\.abi3\.so",
            r"ordhc/py\.typed",
            r"ordhc/plans/answers\.csv",
            r"ordhc/cli/template/pyproject\.toml\.txt",
            r"ordhc-.*\.dist-info/licenses/LICENSE",
            r"ordhc-.*\.dist-info/licenses/THIRD-PARTY-LICENSES",
            r"ordhc-.*\.dist-info/sboms/.*\.cyclonedx\.json",
            r"ordhc-.*\.data/data/share/man/man1/ordhc\.1",
        ):
            need(any(re.fullmatch(wanted, name) for name in names), f"the wheel has no {wanted}")
        need(not [name for name in names if "tests/" in name], "the wheel has tests")


def sdist():
    """Build the source in isolation, install it and try it; the same for new plugins of every kind."""
    run(sys.executable, "-c", "import build")
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--sdist", "--outdir", folder)
        (path,) = Path(folder).glob("ordhc-*.tar.gz")
        run(tool("twine", "pip install twine"), "check", "--strict", path)
        run(sys.executable, "-m", "venv", f"{folder}/user")
        user = Path(folder) / "user" / "bin"
        run(user / "python", "-m", "pip", "install", "--quiet", path, cwd=folder)
        told = run(user / "ordhc", "plan", "--items", "30", "--accuracy", "0.8", cwd=folder)
        need("answers a leaf" in told, told)
        run(ROOT / ".ci" / "new_plugins", user, cwd=folder)


def oldest():
    """Test with the oldest versions of dependencies."""
    run("make", "test-oldest")


def image():
    """Build the Dockerfile, if a Docker engine runs."""
    docker = tool("docker", "https://docs.docker.com/engine/install/")
    unreachable = (
        "Cannot connect to the Docker daemon|failed to connect to the docker API|is the docker daemon"
    )
    run(docker, "info", "--format", "{{.ServerVersion}}", without=f"(?i){unreachable}")
    run(docker, "build", "--quiet", "--tag", "ordhc-release-check", ".")
    need("ordhc, version" in run(docker, "run", "--rm", "ordhc-release-check", "--version"), "no version")


def recipe():
    """Check the conda recipe."""
    program = tool("rattler-build", "https://rattler.build")
    run(program, "build", "--render-only", "--recipe", "recipe/recipe.yaml")


STEPS = [versions, licences, citation, workflows, syntax, platforms, deny, audit, api, semver, crate]
STEPS += [wheel, sdist, oldest, recipe, image]


def main():
    """Run the steps; what has failed makes the exit code 1."""
    names = [step.__name__ for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "steps", nargs="*", choices=[*names, []], default=[], metavar="STEP", help=", ".join(names)
    )
    parser.add_argument("--tag", help="of versions: the tag of the release")
    given = parser.parse_args()
    missing, failed = [], []
    for step in STEPS:
        name = step.__name__
        if given.steps and name not in given.steps:
            continue
        began = time.perf_counter()
        print(f"== {name}: {step.__doc__}", flush=True)
        try:
            step(given.tag) if step is versions else step()
        except MissingError as error:
            missing.append(f"{name}: {error}")
            print(f"   NOT CHECKED: {error}")
        except FailedError as error:
            failed.append(name)
            print(f"   FAILED: {error}")
        else:
            print(f"   ok, {time.perf_counter() - began:.0f} s")
    print()
    for line in missing:
        print(f"not checked  {line}")
    print(f"{len(failed)} failed{': ' * bool(failed)}{', '.join(failed)}; {len(missing)} not checked here")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
