// Package bench measures the platform and, in the same run, its servers alone. The ratio shows the cost of the platform. Run it
// with `go test -run '^$' -bench . ./deploy/tests/bench`, with the variables that `make test` sets.
package bench
