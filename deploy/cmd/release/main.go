// Command release packs what the Makefile has built:
//
//	release FOLDER         FOLDER/image of FOLDER/programs, and FOLDER/files/gifting-VERSION.tgz of the chart
//	release FOLDER NAME    FOLDER/docker.tar, an image of that name for this machine
//
// It runs at the root of the repository. The version is that of the change log, the time that of the commit.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/partnergifting/platform/deploy/release"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release FOLDER [NAME]")

func run(args []string) error {
	if len(args) != 1 && len(args) != 2 {
		return errUsage
	}
	version, err := release.Version(".")
	if err != nil {
		return err
	}
	head, err := exec.CommandContext(context.Background(), "git", "show", "--no-patch", "--format=%H %ct").Output()
	if err != nil {
		return fmt.Errorf("git show: %w", err)
	}
	var seconds int64
	r := release.Release{Version: version}
	if _, err := fmt.Sscan(string(head), &r.Revision, &seconds); err != nil {
		return fmt.Errorf("git show: %w", err)
	}
	r.Time = time.Unix(seconds, 0).UTC()
	programs := filepath.Join(args[0], "programs")
	if len(args) == 2 {
		return r.Archive(programs, args[1], filepath.Join(args[0], "docker.tar"))
	}
	return errors.Join(
		r.Image(programs, filepath.Join(args[0], "image")),
		r.Chart("helm/gifting", filepath.Join(args[0], "files", "gifting-"+version+".tgz")))
}
