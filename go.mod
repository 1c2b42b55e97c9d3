module github.com/reverie-memory/reverie

go 1.26

require github.com/google/go-cmp v0.7.0
