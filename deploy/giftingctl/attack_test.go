package giftingctl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

func TestEveryStatusHasAnExitCodeAndWords(t *testing.T) {
	t.Parallel()
	var answer error
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) { return nil, answer })
	for _, info := range problem.Registry() {
		t.Run(string(info.Code), func(t *testing.T) {
			answer = &problem.Error{Code: info.Code, Detail: "why", Violations: []problem.Violation{{Field: "name", Code: problem.FieldTooLong, Message: "is long"}}}
			refused := run(t, services.Config, "regions", "list")
			want := 1
			if info.GRPC == codes.Unavailable {
				want = 3
			}
			require.Equal(t, want, refused.code)
			require.True(t, strings.HasPrefix(refused.err, fmt.Sprintf("giftingctl: %s (%s): ", info.Title, info.Code)), refused.err)
			require.True(t, strings.HasSuffix(refused.err, "why\n  name: is long (too_long)\n"), refused.err)
		})
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		t.Run("without a problem "+code.String(), func(t *testing.T) {
			answer = status.Error(code, "why")
			refused := run(t, services.Config, "regions", "list", "-o", "json")
			want, name := 1, strings.ToLower(code.String())
			if code == codes.Unavailable || code == codes.DeadlineExceeded {
				want, name = 3, string(problem.ServiceUnavailable)
			}
			require.Equal(t, want, refused.code)
			require.Empty(t, refused.out)
			first, _, _ := strings.Cut(refused.err, "\n")
			shown := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(first), &shown), refused.err)
			require.Equal(t, name, shown["code"])
			require.Contains(t, shown["detail"], "why")
		})
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	calls := 0
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		calls++
		return nil, nil
	})
	for name, tc := range map[string]struct {
		change func(t *testing.T, dir string)
		code   int
		want   string
	}{
		"expired": {func(t *testing.T, dir string) {
			t.Helper()
			request := identitytest.Request(identity.Operator)
			request.From, request.Until = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
			services.Authority.Files(t, dir, request)
		}, 2, "the certificate is not valid now"},
		"without an identity": {func(t *testing.T, dir string) {
			t.Helper()
			services.Authority.Files(t, dir, authority.Request{Hosts: []string{"ann"}, From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)})
		}, 2, "0 URI SANs"},
		"with the key of another": {func(t *testing.T, dir string) {
			t.Helper()
			other := services.Authority.Config(t, identity.Operator)
			key, err := os.ReadFile(other.KeyFile)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
		}, 2, "private key does not match public key"},
		"without a key": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "tls.key")))
		}, 2, "tls.key: no such file"},
		"with a key that others may read": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Chmod(filepath.Join(dir, "tls.key"), 0o640))
		}, 2, "others may read this private key: chmod 600"},
		"of another authority": {func(t *testing.T, dir string) {
			t.Helper()
			pair, err := identitytest.New(t).Issue(identitytest.Request(identity.Operator))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), pair.Cert, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), pair.Key, 0o600))
		}, 3, "check the addresses, ca, certificate and key of the context"},
		"with another authority for servers": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), identitytest.New(t).Cert, 0o600))
		}, 3, "certificate signed by unknown authority"},
		"in a file of contexts that others may change": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Chmod(filepath.Join(dir, "giftingctl.yaml"), 0o666))
		}, 2, "others may change it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(services.Config))))
			for _, file := range []string{"tls.key", "giftingctl.yaml"} {
				require.NoError(t, os.Chmod(filepath.Join(dir, file), 0o600))
			}
			config := filepath.Join(dir, "giftingctl.yaml")
			require.Zero(t, run(t, config, "regions", "list").code)
			tc.change(t, dir)
			before := calls
			refused := run(t, config, "regions", "list")
			require.Equal(t, tc.code, refused.code, refused.err)
			require.Contains(t, refused.err, tc.want)
			require.Equal(t, before, calls)
			if tc.code == 2 {
				require.Equal(t, 2, run(t, config, "context", "show").code)
			}
		})
	}
}

func TestAServerThatDoesNotAnswerInTime(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	defer close(ended)
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		<-ended
		return nil, nil
	})
	late := run(t, services.Config, "orders", "message", "x", "Hello", "--timeout", "200ms")
	require.Equal(t, 3, late.code)
	require.Contains(t, late.err, "Nothing is done twice if you repeat the command with --message-id ")
}

// hostile is a text that clears the screen, sets the title of the window, rings, and turns the direction of what follows.
const hostile = "a\x1b[2J\x1b]0;owned\x07\u009b31m\u202egpj\tb\r\nc\x7f"

func TestTextsOfTenantsCannotControlATerminal(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(method string, _ proto.Message) (proto.Message, error) {
		if strings.HasSuffix(method, "ListRegions") {
			return nil, status.Error(codes.Internal, hostile)
		}
		return &ordersv1.ListConversationResponse{Entries: []*ordersv1.ConversationEntry{{Message: &ordersv1.OrderMessage{Body: hostile}}}}, nil
	})
	for _, output := range []string{"table", "json"} {
		for _, args := range [][]string{{"orders", "conversation", "x"}, {"regions", "list"}} {
			r := run(t, services.Config, append(args, "-o", output)...)
			shown := strings.TrimSuffix(r.out+r.err, "\n")
			require.NotEmpty(t, shown)
			for _, control := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\x7f", "\r", "\t"} {
				require.NotContains(t, shown, control, output)
			}
		}
	}
	require.Contains(t, run(t, services.Config, "orders", "conversation", "x").out, `a\x1b[2J\x1b]0;owned\x07\u009b31m\u202egpj b c\x7f`)
	read := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(run(t, services.Config, "orders", "conversation", "x", "-o", "json").out), &read))
	require.Contains(t, fmt.Sprint(read), hostile, "JSON has the text as it is")
}

func TestColumnsAreAlignedForTextsOfAnyWidth(t *testing.T) {
	t.Parallel()
	names := []string{"plain", "ünicode", "u\u0308 combined", "日本語", "🎁 gift", "ﾊﾝｶｸ", "👩‍🚀"}
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		answer := &catalogv1.ListRegionsResponse{}
		for _, name := range names {
			answer.Regions = append(answer.Regions, &catalogv1.PutRegionRequest{Code: name, Countries: []string{"SE"}})
		}
		return answer, nil
	})
	lines := strings.Split(run(t, services.Config, "regions", "list").out, "\n")
	// The widest is "u combined" with 10 columns.
	for i, spaces := range []int{7, 5, 2, 6, 5, 8} {
		require.Equal(t, names[i]+strings.Repeat(" ", spaces)+"SE", lines[i+1])
	}
}

func TestAllPagesAreFollowedToTheEnd(t *testing.T) {
	t.Parallel()
	const last = 5
	services := giftingctltest.Start(t, func(method string, req proto.Message) (proto.Message, error) {
		if strings.HasSuffix(method, "ListProductRecords") { // It never ends.
			return &catalogv1.ListProductRecordsResponse{NextCursor: proto.String("again")}, nil
		}
		page, _ := strconv.Atoi(req.(*webhookv1.ResendDeliveriesRequest).GetPageToken())
		answer := &webhookv1.ResendDeliveriesResponse{Resent: 1000}
		if page < last {
			answer.NextPageToken = proto.String(strconv.Itoa(page + 1))
		}
		return answer, nil
	})
	resend := []string{"webhook", "resend-range", "1", "--recorded-from", "2026-01-01", "--recorded-before", "2026-02-01", "--all"}
	require.Contains(t, run(t, services.Config, append(resend, "-o", "json")...).out, `"resent": 6000`)
	endless := run(t, services.Config, "products", "list", "--all")
	require.Equal(t, 1, endless.code)
	require.Contains(t, endless.err, "the cursor of the same page again")
}

func TestPagesThatChangeSomethingSayWhereTheyGoOn(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		if req.(*webhookv1.ResendDeliveriesRequest).GetPageToken() == "2" {
			return nil, problem.Unavailable()
		}
		return &webhookv1.ResendDeliveriesResponse{Resent: 1000, NextPageToken: proto.String("2")}, nil
	})
	r := run(t, services.Config, "webhook", "resend-range", "1", "--recorded-from", "2026-01-01", "--recorded-before", "2026-02-01", "--all")
	require.Equal(t, 3, r.code)
	require.Contains(t, r.err, "The pages before were done. It goes on with --all --page-token 2\n")
}

func TestAnExportIsResumedAfterAFailure(t *testing.T) {
	t.Parallel()
	down := true
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		switch req.(*tenantsv1.ExportTenantRequest).GetAfter() {
		case "":
			return &tenantsv1.ExportTenantResponse{Lines: []byte("{\"row\":1}\n"), NextCursor: proto.String("second")}, nil
		case "second":
			if down {
				return nil, problem.Unavailable()
			}
			return &tenantsv1.ExportTenantResponse{Lines: []byte("{\"row\":2}\n"), NextCursor: proto.String("third")}, nil
		default:
			return &tenantsv1.ExportTenantResponse{Lines: []byte("{\"row\":3}\n")}, nil
		}
	})
	path := filepath.Join(t.TempDir(), "tenant.jsonl")
	export := []string{"offboarding", "export", "--out", path}
	content := func() string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	failed := run(t, services.Config, export...)
	require.Equal(t, 3, failed.code)
	require.Contains(t, failed.err, "The file goes on with --after second\n")
	require.Equal(t, "{\"row\":1}\n", content())
	for name, args := range map[string][]string{"from the beginning": export, "with an empty cursor": append(export, "--after", "")} {
		t.Run(name+" it does not touch the file", func(t *testing.T) {
			require.Equal(t, 2, run(t, services.Config, args...).code)
			require.Equal(t, "{\"row\":1}\n", content())
		})
	}
	again := run(t, services.Config, append(export, "--after", "second")...)
	require.Equal(t, 3, again.code, "the service is still down")
	require.Contains(t, again.err, "--after second\n")
	down = false
	done := run(t, services.Config, append(export, "--after", "second")...)
	require.Zero(t, done.code, done.err)
	require.Equal(t, "{\"row\":1}\n{\"row\":2}\n{\"row\":3}\n", content())
}

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
		made := run(t, "", "bootstrap", "keys", "--postgres", "db:5432", "--dir", dir, "--redis-file", file)
		require.Zero(t, made.code, made.err)
		content, err := os.ReadFile(filepath.Join(dir, "gifting-redis", "url"))
		require.NoError(t, err)
		require.Equal(t, "rediss://:hunter5@redis:6379", string(content))
		require.NotContains(t, made.out+made.err, "hunter5")
	})
	t.Run("the URL of an administrator is in no error", func(t *testing.T) {
		dir := t.TempDir()
		require.Zero(t, run(t, "", "bootstrap", "keys", "--postgres", "db:5432", "--dir", dir).code)
		for _, url := range []string{"postgres://root:hunter6@127.0.0.1:1/postgres", "postgres://root:hunter6@127.0.0.1:1:1/postgres", "hunter6"} {
			file := filepath.Join(dir, "admin")
			require.NoError(t, os.WriteFile(file, []byte(url), 0o600))
			refused := run(t, "", "bootstrap", "databases", "--secrets", dir, "--run", "--url-file", file)
			require.Equal(t, 1, refused.code)
			require.NotContains(t, refused.err, "hunter6")
		}
	})
}

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
	code := giftingctl.Run(ctx, []string{"--config", services.Config, "catalog", "import", path}, giftingctl.Streams{Out: &out, Err: &errs})
	require.Equal(t, 130, code)
	require.Regexp(t, `Stopped: import of the rows from line (202|402): context canceled. The same command continues the import.\n`, errs.String())
}

func TestAStoppedCommandSaysThatItMayHaveHadAnEffect(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		interrupt()
		<-ctx.Done()
		return nil, nil
	})
	var errs strings.Builder
	code := giftingctl.Run(ctx, []string{"--config", services.Config, "orders", "note", "x", "Hello"}, giftingctl.Streams{Out: &errs, Err: &errs})
	if code == 0 {
		t.Skip("the answer was faster than the end of the call")
	}
	require.Equal(t, 130, code)
	require.Contains(t, errs.String(), "giftingctl: Interrupted (interrupted): the command was stopped; the service may have carried it out\n")
	require.Contains(t, errs.String(), "Nothing is done twice if you repeat the command with --message-id ")
}

func TestADurationThatOverflowsIsRefused(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	refused := run(t, services.Config, "keys", "rotate-webhook-secret", "1", "--overlap", "9999999d")
	require.Equal(t, 2, refused.code)
	require.Contains(t, refused.err, "is too long")
	require.Empty(t, services.Calls())
}
