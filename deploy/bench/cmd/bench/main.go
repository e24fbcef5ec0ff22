// Command bench runs the benchmarks of the platform one after another and makes one report: a table on the terminal, and JSON
// and plots in a folder. `make bench` runs it on its own servers.
//
// It fails if a benchmark fails, but not if a limit is missed, because a busy machine can cause that.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/bench/report"
)

// profilesFolder tells the benchmarks where to write profiles.
const profilesFolder = "GIFTING_BENCH_PROFILES"

// The variables that testdeps sets.
const (
	postgresURL = "GIFTING_TEST_POSTGRES_URL"
	kafkaKind   = "GIFTING_TEST_KAFKA_KIND"
)

func main() {
	quick := flag.Bool("quick", false, "fewer iterations and smaller sizes")
	dir := flag.String("out", ".local/bench", "folder of the report")
	profiled := flag.Bool("profile", false, "write profiles and flame graphs of the programs' processor time into the folder")
	only := flag.String("bench", ".", "which benchmarks, as of go test -bench")
	flag.Parse()
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	if err := run(ctx, *dir, *only, *quick, *profiled); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // Nothing is left to release.
	}
}

func run(ctx context.Context, dir, only string, quick, profiled bool) error {
	profiles, err := filepath.Abs(filepath.Join(dir, "profiles"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(profiles, 0o755); err != nil { //nolint:gosec // The report is no secret.
		return err
	}
	if profiled {
		if err := os.Setenv(profilesFolder, profiles); err != nil {
			return err
		}
	}
	made := report.Report{At: time.Now().UTC().Truncate(time.Second), Version: version(ctx)}
	made.Machine, err = report.Here(ctx, os.Getenv(postgresURL), os.Getenv(kafkaKind))
	if err != nil {
		return err
	}
	failed := measure(ctx, dir, only, quick, &made)
	made.Outcomes = report.Compare(made.Results, report.Goals())
	if err := made.Write(dir); err != nil {
		return err
	}
	if err := made.WriteTable(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("\nreport.json, *.svg and the output of every benchmark are in %s\n", dir)
	return failed
}

// packages lists the packages with benchmarks. They run one after another, because they would slow each other down.
func packages() []string {
	return []string{"./deploy/bench", "./deploy/bench/delivery", "./deploy/bench/growth", "./pkg/restjson"}
}

// measure runs the benchmarks and collects their results. If one fails, the others still run.
func measure(ctx context.Context, dir, only string, quick bool, into *report.Report) (failed error) {
	for _, pkg := range packages() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		began := time.Now()
		fmt.Printf("%-24s ", pkg)
		results, err := runPackage(ctx, dir, pkg, only, quick)
		into.Results = append(into.Results, results...)
		if err != nil {
			failed = fmt.Errorf("%s: %w", pkg, err)
			fmt.Printf("failed after %s: see %s\n", time.Since(began).Round(time.Second), outputOf(dir, pkg))
			continue
		}
		fmt.Printf("%d results in %s\n", len(results), time.Since(began).Round(time.Second))
	}
	return failed
}

func runPackage(ctx context.Context, dir, pkg, only string, quick bool) ([]report.Result, error) {
	args := []string{"test", "-run", "^$", "-bench", only, "-count", "1", "-timeout", "60m", "-v"}
	if quick {
		args = append(args, "-short")
	}
	output, err := os.Create(outputOf(dir, pkg))
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...) //nolint:gosec // The caller chooses what to measure.
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	failed := cmd.Run()
	if _, err := output.Seek(0, 0); err != nil {
		return nil, err
	}
	results, err := report.Parse(output)
	if err != nil {
		return nil, err
	}
	return results, failed
}

func outputOf(dir, pkg string) string {
	return filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".txt")
}

// version is the version of the sources, from git.
func version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "development"
	}
	return strings.TrimSpace(string(out))
}
