package catalog_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/rpc/rpctest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/pkg/testenv"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog"
)

func config(t *testing.T) catalog.Config {
	t.Helper()
	return catalog.Config{
		RPC:         rpc.Config{Addr: testenv.FreeAddr(t)},
		Database:    postgres.Config{URL: pgtest.NewURL(t)},
		TenantsAddr: tenantstest.NewDirectory(t).Addr,
		ImagesURL:   "file://" + filepath.ToSlash(t.TempDir()) + "?no_tmp_dir=true&metadata=skip",
		PublicURL:   "https://gifts.example.com/api/public/v1",
	}
}

// readiness returns the status and the text of /readyz, or 0.
func readiness(t *testing.T, addr string) (status int, reason string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(body)
}

func TestTheServiceIsReadyOnlyWhenTheImageStoreTookAFile(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "images")
	require.NoError(t, os.Symlink("/proc/self/fdinfo", folder)) // In it no file can be made, not even by root.
	cfg, metrics := config(t), testenv.FreeAddr(t)
	cfg.ImagesURL = "file://" + filepath.ToSlash(folder)
	require.NoError(t, catalog.Program().Migrate(t.Context(), cfg, io.Discard))
	tel, err := telemetry.New(t.Context(), "catalog", telemetry.Config{MetricsAddr: metrics}, io.Discard)
	require.NoError(t, err)
	service, err := catalog.New(t.Context(), cfg, tel)
	require.NoError(t, err)
	testenv.Run(t, service.Run)
	require.Eventually(t, func() bool {
		status, reason := readiness(t, metrics)
		return status == http.StatusServiceUnavailable && strings.Contains(reason, "(GIFTING_IMAGES_URL) has not taken a file yet: ")
	}, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, os.Remove(folder))
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.Eventually(t, func() bool {
		status, _ := readiness(t, metrics)
		return status == http.StatusOK
	}, 30*time.Second, 5*time.Millisecond)
}

func TestNewRefusesAnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	good := config(t)
	for name, change := range map[string]func(cfg *catalog.Config){
		"images in an unknown kind of store":   func(cfg *catalog.Config) { cfg.ImagesURL = "ftp://images" },
		"a database that does not exist":       func(cfg *catalog.Config) { cfg.Database.URL = "postgres://nobody@127.0.0.1:1/x" },
		"a tenants service without an address": func(cfg *catalog.Config) { cfg.TenantsAddr = "" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			change(&cfg)
			_, err := catalog.New(t.Context(), cfg, telemetry.Discard())
			require.Error(t, err)
		})
	}
}

func TestOnlyTheSandboxServesTheMethodsOfTheSandbox(t *testing.T) {
	t.Parallel()
	rpctest.RequireOnlyInSandbox(t, catalogv1.SandboxCatalogService_ServiceDesc,
		func(t *testing.T, addr string, environment apikey.Environment) func(ctx context.Context) error {
			t.Helper()
			cfg := config(t)
			cfg.RPC.Addr, cfg.Environment = addr, environment
			require.NoError(t, catalog.Program().Migrate(t.Context(), cfg, io.Discard))
			service, err := catalog.New(t.Context(), cfg, telemetry.Discard())
			require.NoError(t, err)
			return service.Run
		})
}
