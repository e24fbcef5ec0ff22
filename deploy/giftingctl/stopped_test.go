package giftingctl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestAnImportNeverReplacesItsOwnFile(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	path := filepath.Join(t.TempDir(), "gifts.csv")
	require.NoError(t, os.WriteFile(path, []byte("id,state,name\na,DRAFT,n\n"), 0o600))
	refused := run(t, services.Config, "catalog", "import", path, "--report", path)
	require.Equal(t, 2, refused.code)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "id,state,name\na,DRAFT,n\n", string(content))
}

func TestAnInterruptedImportSaysWhereItContinues(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	batches := 0
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		if batches++; batches > 1 {
			interrupt()
			<-ctx.Done()
		}
		answer := &catalogv1.ImportProductsResponse{}
		for range req.(*catalogv1.ImportProductsRequest).GetProducts() {
			answer.Results = append(answer.Results, &catalogv1.ImportResult{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED})
		}
		return answer, nil
	})
	var file strings.Builder
	file.WriteString("id,state,name\n")
	for range 1000 {
		file.WriteString(uuid.NewString() + ",DRAFT,n\n")
	}
	path := filepath.Join(t.TempDir(), "gifts.csv")
	require.NoError(t, os.WriteFile(path, []byte(file.String()), 0o600))
	var out, errs strings.Builder
	code := giftingctl.Run(ctx, []string{"--config", services.Config, "catalog", "import", path},
		giftingctl.Streams{Out: &out, Err: &errs})
	require.Equal(t, 130, code)
	require.Regexp(t, `Stopped: import of the rows from line (202|402): context canceled. Run the same command again:`, errs.String())
}

func TestAStoppedCommandSaysThatItMayHaveHadAnEffect(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan struct{})
	defer close(ended)
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		interrupt()
		<-ended
		return nil, nil
	})
	var errs strings.Builder
	code := giftingctl.Run(ctx, []string{"--config", services.Config, "orders", "note", "x", "Hello"},
		giftingctl.Streams{Out: &errs, Err: &errs})
	require.Equal(t, 130, code)
	require.Contains(t, errs.String(),
		"giftingctl: Interrupted (interrupted): the command was stopped; the service may have carried it out\n")
	require.Contains(t, errs.String(), "Nothing is done twice if you repeat the command with --message-id ")
}
