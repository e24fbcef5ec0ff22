// Package bench measures the platform against what its servers alone can do, both in one run: the ratio says what the
// platform adds. Run it by `go test -run '^$' -bench . ./deploy/bench`, with the variables that `make test` sets.
package bench
