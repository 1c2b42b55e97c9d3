export CGO_ENABLED ?= 0

.PHONY: build test lint bench evidence ci release image picture

build:
	go build -tags urfave_cli_no_docs -o reverie ./cmd/reverie

test:
	go test -short ./...

lint:
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -checks 'SA*,U1000' ./...

bench:
	go run ./bench

evidence:
	go run ./bench/page evidence

ci:
	.ci/run

release:
	go run github.com/goreleaser/goreleaser/v2@v2.12.7 release --snapshot --clean
	node packaging/npm/make.mjs dist

image: build
	cp reverie packaging/image/reverie
	docker build -t reverie $(if $(BASE),--build-arg BASE=$(BASE)) -f packaging/image/Containerfile packaging/image

picture:
	packaging/recording/record
