package giftingctl_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

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
	first := run(t, services.Config, "products", "list")
	require.Zero(t, first.code, first.err)
	require.Contains(t, first.err, "There are more: --after again, or --all\n")
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
	r := run(t, services.Config, "webhook", "resend-range", "1", "--all",
		"--recorded-from", "2026-01-01", "--recorded-before", "2026-02-01")
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
	require.Contains(t, done.err, "It holds personal data.")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, "{\"row\":1}\n{\"row\":2}\n{\"row\":3}\n", content())
}
