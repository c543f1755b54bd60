"""The page of programs lists programs that there are, run with the versions of packages that are installed for them."""

from tests.programs import page


def test_the_rows_are_of_programs_and_versions_that_there_are():
    programs, rows = page.functions(), page.rows()
    assert len(programs) > 60 and rows
    assert {*rows} <= {*programs}
    assert {name: row[0] for name, row in rows.items()} == {name: page.packages(programs[name]) for name in rows}
