from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.errors import SourceError
from ingestion.paths import check_path, files_under


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "docs").mkdir(parents=True)
    (tmp_path / "root" / "docs" / "a.md").write_text("a")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    return tmp_path / "root"


def test_a_path_under_a_root_is_read(root: Path) -> None:
    assert check_path(str(root / "docs"), [root]) == (root / "docs").resolve()


def test_paths_that_lead_outside_are_refused(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "docs" / "file.md").symlink_to(root.parent / "outside" / "secret.md")
    for location in (
        root.parent / "outside",
        root / "docs" / ".." / ".." / "outside",
        root / "link" / "secret.md",
        root / "docs" / "file.md",
        Path("/etc/passwd"),
        root.parent / "root-sibling",
    ):
        with pytest.raises(SourceError):
            check_path(str(location), [root])


def test_a_link_inside_the_root_is_not_followed_either(root: Path) -> None:
    (root / "alias").symlink_to(root / "docs")
    with pytest.raises(SourceError, match="symbolic links"):
        check_path(str(root / "alias"), [root])


def test_a_folder_is_walked_without_hidden_files_and_linked_folders(root: Path) -> None:
    (root / "docs" / ".git").mkdir()
    (root / "docs" / ".git" / "x.md").write_text("x")
    (root / "docs" / "sub").mkdir()
    (root / "docs" / "sub" / "b.md").write_text("b")
    (root / "docs" / "picture.png").write_bytes(b"x")
    (root / "docs" / "linked").symlink_to(root.parent / "outside")
    found = [p.relative_to(root).as_posix() for p in files_under(root, frozenset({".md"}))]
    assert found == ["docs/a.md", "docs/sub/b.md"]
    matched = files_under(root, frozenset({".md"}), glob="sub/*.md")
    assert [path.name for path in matched] == ["b.md"]


def test_a_folder_that_cannot_be_looked_into_is_told(root: Path) -> None:
    closed: list[OSError] = []
    assert not list(files_under(root / "gone", frozenset({".md"}), on_closed=closed.append))
    assert [error.filename for error in closed] == [str(root / "gone")]
