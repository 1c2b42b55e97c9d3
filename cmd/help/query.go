package help

// Query describes the query language.
const Query = `A query is a sentence in any language; - reads it from standard input.
It may also contain:

    two words      memories about them, best first
    "two words"    these words side by side
    -word          without this word; at the end of the query, or at the beginning of a short one
    -"two words"   without these words side by side; anywhere
    kind:failure   of this kind, as -k failure
    path:web/a.ts  about this file, folder or glob (path:cmd/*.go); path:./a.ts from where you are
    tag:build      with this tag
    by:claude      learned from this client; also by:human, by:import/TOOL
    since:2w       learned since; also 2026-11-01, 2026-11, 3d, 6m, 1y, today, yesterday
    at:v1.2        as it was at this revision, as --at v1.2
    -tag:build     all but these; works with every filter except at:

A program's option (-v, -race, --amend) is a word, and quoting makes a filter a word ("tag:x").
A pasted line is searched for as it is. -- ends the options: reverie recall -- --no-verify`
