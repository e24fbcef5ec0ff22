package importer_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/importer"
)

// rejecting is a catalog that rejects every gift.
type rejecting struct {
	catalogv1.UnimplementedImportServiceServer
}

func (rejecting) ImportProducts(_ context.Context, req *catalogv1.ImportProductsRequest) (*catalogv1.ImportProductsResponse, error) {
	resp := &catalogv1.ImportProductsResponse{}
	for range req.GetProducts() {
		resp.Results = append(resp.Results, &catalogv1.ImportResult{
			Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED,
			Errors:  []*catalogv1.ImportError{{Field: "name", Code: "required", Message: "is required"}},
		})
	}
	return resp, nil
}

func TestCommand(t *testing.T) {
	server := grpc.NewServer()
	catalogv1.RegisterImportServiceServer(server, rejecting{})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	t.Setenv("GIFTING_CATALOG_ADDR", listener.Addr().String())
	dir := t.TempDir()
	gifts := filepath.Join(dir, "gifts.csv")
	require.NoError(t, os.WriteFile(gifts, []byte(header+jerseyCSV), 0o600))
	run := func(stdin string, args ...string) (stdout, stderr string, err error) {
		var out, errOut bytes.Buffer
		err = importer.Command(t.Context(), args, importer.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut})
		return out.String(), errOut.String(), err
	}
	t.Run("reports on the standard output", func(t *testing.T) {
		out, stderr, err := run("", "--file", gifts)
		require.ErrorIs(t, err, importer.ErrRejected)
		require.ErrorContains(t, err, "1 of 1 rows were rejected")
		require.Contains(t, out, `"outcome":"rejected","errors":[{"field":"name","code":"required","message":"is required"}]`)
		require.Contains(t, stderr, "1 rejected")
	})
	t.Run("or into a file, from the standard input", func(t *testing.T) {
		report := filepath.Join(dir, "report.csv")
		out, _, err := run(jerseyJSON, "--file", "-", "--format", "json", "--report", report)
		require.ErrorIs(t, err, importer.ErrRejected)
		require.Empty(t, out)
		written, err := os.ReadFile(report)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(written), "line,id,outcome,errors\n"), "%s", written)
	})
	t.Run("prints its help", func(t *testing.T) {
		_, stderr, err := run("", "-h")
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(stderr, importer.Help))
		require.Contains(t, stderr, "-report-format")
	})
	t.Run("rejects invalid arguments", func(t *testing.T) {
		for _, tc := range []struct {
			says string
			args []string
		}{
			{"name a file", nil},
			{"name a file", []string{gifts}},
			{"the format must be", []string{"--file", "-"}},
			{"the format must be", []string{"--file", gifts, "--format", "xml"}},
			{"the format must be", []string{"--file", gifts, "--report-format", "xml"}},
			{"no such file", []string{"--file", filepath.Join(dir, "none.csv")}},
			{"no such file", []string{"--file", gifts, "--report", filepath.Join(dir, "none", "report")}},
			{"say where the catalog service is", []string{"--file", gifts, "--catalog", ""}},
			{"plain text is allowed on loopback", []string{"--file", gifts, "--catalog", "203.0.113.1:1"}},
			{"flag provided but not defined", []string{"--fiel", gifts}},
		} {
			_, _, err := run("", tc.args...)
			require.ErrorContains(t, err, tc.says)
		}
	})
}
