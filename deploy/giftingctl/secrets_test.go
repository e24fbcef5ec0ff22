package giftingctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestSecretsArePrintedOnceAndCanBeReadFromElsewhere(t *testing.T) {
	t.Parallel()
	var url string
	services := giftingctltest.Start(t, func(method string, req proto.Message) (proto.Message, error) {
		if strings.HasSuffix(method, "CreateKey") {
			return &tenantsv1.CreateKeyResponse{ApiKey: "gft_hunter2", WebhookSecret: "whsec_hunter3"}, nil
		}
		url = req.(*tenantsv1.SetWebhookUrlRequest).GetUrl()
		return nil, nil
	})
	made := run(t, services.Config, "keys", "create", "--name", "CRM", "--scopes", "orders")
	require.Equal(t, 1, strings.Count(made.out+made.err, "gft_hunter2"))
	require.Equal(t, 1, strings.Count(made.out+made.err, "whsec_hunter3"))
	t.Run("the URL of a webhook from the standard input", func(t *testing.T) {
		var out, errs strings.Builder
		code := giftingctl.Run(t.Context(), []string{"--config", services.Config, "keys", "set-webhook-url", "7", "-f", "-"},
			giftingctl.Streams{In: strings.NewReader(`{"url": "https://hooks.example.com/hunter4"}`), Out: &out, Err: &errs})
		require.Zero(t, code, errs.String())
		require.Equal(t, "https://hooks.example.com/hunter4", url)
		require.NotContains(t, out.String()+errs.String(), "hunter4")
	})
	t.Run("the URL of Redis from a file", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "redis")
		require.NoError(t, os.WriteFile(file, []byte("rediss://:hunter5@redis:6379\n"), 0o600))
		made := run(t, "none.yaml", "bootstrap", "keys", "--postgres", "db:5432", "--dir", dir, "--redis-file", file)
		require.Zero(t, made.code, made.err)
		content, err := os.ReadFile(filepath.Join(dir, "gifting-redis", "url"))
		require.NoError(t, err)
		require.Equal(t, "rediss://:hunter5@redis:6379", string(content))
		require.NotContains(t, made.out+made.err, "hunter5")
	})
	t.Run("the URL of an administrator is in no error, whose exit code is that of the README", func(t *testing.T) {
		dir := t.TempDir()
		require.Zero(t, run(t, "none.yaml", "bootstrap", "keys", "--postgres", "db:5432", "--dir", dir, "--redis=", "--prefix=").code)
		for url, code := range map[string]int{
			"postgres://root:hunter6@127.0.0.1:1/postgres":   3, // Nothing listens there.
			"postgres://root:hunter6@127.0.0.1:1:1/postgres": 2,
			"hunter6": 2,
		} {
			file := filepath.Join(dir, "admin")
			require.NoError(t, os.WriteFile(file, []byte(url), 0o600))
			refused := run(t, "none.yaml", "bootstrap", "databases", "--secrets", dir, "--run", "--url-file", file)
			require.Equal(t, code, refused.code, refused.err)
			require.NotContains(t, refused.err, "hunter6")
		}
	})
}
