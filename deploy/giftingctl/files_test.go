package giftingctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
)

func TestNoFileIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(method string, _ proto.Message) (proto.Message, error) {
		if strings.HasSuffix(method, "ImportProducts") {
			return &catalogv1.ImportProductsResponse{
				Results: []*catalogv1.ImportResult{{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED}},
			}, nil
		}
		return nil, nil
	})
	dir := t.TempDir()
	victim, gifts := filepath.Join(dir, "victim"), filepath.Join(dir, "gifts.csv")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))
	require.NoError(t, os.WriteFile(gifts, []byte("id,state,name\na,DRAFT,n\n"), 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(victim, link))
	require.NoError(t, os.Symlink(victim, services.Config+".next"))
	for line, want := range map[string]int{
		"context use test": 0,
		"catalog import " + gifts + " --report " + link:           exitUsage,
		"catalog import " + gifts + " --report /dev/null":         exitUsage,
		"links preview gift --brand-id b --out " + link:           exitUsage,
		"offboarding export --out " + link:                        exitUsage,
		"offboarding export --after x --out " + link:              exitUsage,
		"catalog import " + gifts + " --report " + dir + "/1.csv": 0,
	} {
		code, _, errs := runLine(t, services.Config, strings.Fields(line)...)
		require.Equal(t, want, code, line+errs)
		content, err := os.ReadFile(victim)
		require.NoError(t, err)
		require.Equal(t, "precious", string(content), line)
	}
}

func TestAReportReplacesAFileAndIsForItsOwner(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	dir := t.TempDir()
	gifts, report := filepath.Join(dir, "gifts.csv"), filepath.Join(dir, "report.csv")
	require.NoError(t, os.WriteFile(gifts, []byte("id,state,name\n=1,SOLD,n\n"), 0o600))
	require.NoError(t, os.WriteFile(report, []byte("of yesterday"), 0o644))
	code, _, errs := runLine(t, services.Config, "catalog", "import", gifts, "--report", report, "--dry-run")
	require.Equal(t, exitFailed, code, errs)
	content, err := os.ReadFile(report)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(content), "line,id,outcome,errors\n2,'=1,rejected,\"state invalid: "), "%s", content)
	info, err := os.Stat(report)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing is left over")
}

func TestAPreviewOnATerminalDoesNotControlIt(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		return &giftsitev1.PreviewGiftSiteResponse{Html: "<p>\x1b[2J</p>\n"}, nil
	})
	for terminal, want := range map[bool]string{true: "<p>\\u001b[2J</p>\n", false: "<p>\x1b[2J</p>\n"} {
		var out, errs strings.Builder
		code := Run(t.Context(), []string{"--config", services.Config, "links", "preview", "gift", "--brand-id", "b"},
			Streams{In: strings.NewReader(""), Out: &out, Err: &errs, OutTerminal: terminal})
		require.Zero(t, code, errs.String())
		require.Equal(t, want, out.String())
	}
}
