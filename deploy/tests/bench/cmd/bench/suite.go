package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/tests/bench/report"
)

// dumpTime is how long a benchmark that hangs has to write where it hangs.
const dumpTime = 10 * time.Second

// programsFolder tells the benchmarks where to build the programs, so that they are built once.
const programsFolder = "GIFTING_BENCH_PROGRAMS"

// packages lists the packages with benchmarks, the most important first.
func packages() []string {
	return []string{"./deploy/tests/bench/delivery", "./deploy/tests/bench", "./deploy/tests/bench/growth"}
}

// suite runs the benchmarks one after another, because they would slow each other down, and each in a process of its own. So
// one that fails or hangs does not stop the others.
type suite struct {
	dir, only string
	quick     bool
	// limit is how long a benchmark may take.
	limit time.Duration
	// built is the folder of what is compiled.
	built string
}

// run returns the results of all benchmarks, and the errors of those that failed.
func (s suite) run(ctx context.Context) (results []report.Result, failed error) {
	for _, pkg := range packages() {
		found, err := s.runPackage(ctx, pkg)
		results, failed = append(results, found...), errors.Join(failed, err)
	}
	return results, failed
}

func (s suite) runPackage(ctx context.Context, pkg string) (results []report.Result, failed error) {
	program := filepath.Join(s.built, strings.ReplaceAll(pkg[2:], "/", "-")+".test")
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, pkg) //nolint:gosec // One of packages.
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return nil, fmt.Errorf("compile %s: %w", pkg, err)
	}
	listed, err := exec.CommandContext(ctx, program, "-test.list", "^Benchmark").Output() //nolint:gosec // Compiled above.
	if err != nil {
		return nil, fmt.Errorf("list the benchmarks of %s: %w", pkg, err)
	}
	output, err := os.Create(outputOf(s.dir, pkg))
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	all := strings.Fields(string(listed))
	for i, name := range all {
		others := append(append([]string{}, all[:i]...), all[i+1:]...)
		began := time.Now()
		found, err := s.runOne(ctx, pkg, program, output, others)
		took := time.Since(began).Round(time.Second)
		results = append(results, found...)
		name = strings.TrimPrefix(name, "Benchmark")
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			fmt.Printf("%-24s FAILED after %s: see %s\n", name, took, output.Name())
		} else if len(found) > 0 {
			fmt.Printf("%-24s %d results in %s\n", name, len(found), took)
		}
	}
	return results, failed
}

// runOne runs the benchmark that is not among the others, unless the pattern excludes it.
func (s suite) runOne(ctx context.Context, pkg, program string, output *os.File, others []string) ([]report.Result, error) {
	at, err := output.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	args := []string{"-test.run", "^$", "-test.bench", s.only, "-test.skip", "^(" + strings.Join(others, "|") + ")$", "-test.v"}
	if s.quick {
		args = append(args, "-test.short")
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // The caller chooses what to measure.
	cmd.Dir, cmd.Stdout, cmd.Stderr = pkg, output, output
	cmd.Env = append(os.Environ(), programsFolder+"="+s.built)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = dumpTime
	failed := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // What it has started ends with it, also if it was killed.
	}
	if ctx.Err() != nil {
		failed = errors.Join(ctx.Err(), failed)
	}
	if _, err := output.Seek(at, io.SeekStart); err != nil {
		return nil, err
	}
	results, err := report.Parse(output)
	return results, errors.Join(failed, err)
}

// outputOf is the file with the output of a package's benchmarks.
func outputOf(dir, pkg string) string {
	return filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".txt")
}
