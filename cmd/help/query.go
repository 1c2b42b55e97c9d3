package help

// Query describes the query language.
const Query = `A query is a sentence in any language; - reads it from standard input.
It may also have:

two words      memories about them, the best first
"two words"    these words side by side
-word          not what says this: at the end of the query, or at the beginning of a short one
-"two words"   likewise, anywhere
kind:failure   of this kind, as -k failure; likewise:
path:web/a.ts  about this file, folder or glob (path:cmd/*.go); path:./a.ts from where you are
tag:build      with this tag
by:claude      learned from this client; by:human, by:import/TOOL
since:2w       learned since; also 2026-11-01, 2026-11, 3d, 6m, 1y, today, yesterday
at:v1.2        as it was at this revision, as --at v1.2
-tag:build     all but these; of every filter but at:

An option of a program (-v, -race, --amend) is a word, and "tag:x" in quotes is none of
these. A pasted line is looked for as it is; -- ends the options:
reverie recall -- --no-verify`
