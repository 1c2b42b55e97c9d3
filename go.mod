module github.com/reverie-memory/reverie

go 1.26.0

require (
	github.com/go-git/go-git/v5 v5.19.3
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/go-git/go-billy/v5 v5.9.2 // indirect
	github.com/jbenet/go-context v0.0.0-20150711004518-d14ea06fba99 // indirect
	github.com/pjbgf/sha1cd v0.7.0 // indirect
	golang.org/x/net v0.57.0 // indirect
)
