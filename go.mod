module github.com/reverie-memory/reverie

go 1.26
