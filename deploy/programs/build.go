package programs

import (
	"context"
	"fmt"
	"os/exec"
	"slices"

	"github.com/partnergifting/platform/pkg/identity"
)

// Build builds the named programs, or all, into a folder, with flags of `go build`. sources is a folder of the workspace to
// build; empty means the working directory.
func Build(ctx context.Context, into, sources string, flags []string, names ...identity.Name) error {
	args := append(append([]string{"build"}, flags...), "-o", into+"/")
	for _, p := range All() {
		if len(names) == 0 || slices.Contains(names, p.Name) {
			args = append(args, "github.com/partnergifting/platform/"+p.Main())
		}
	}
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // The caller chooses the flags.
	command.Dir = sources
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build programs: %w\n%s", err, output)
	}
	return nil
}
