package gateway_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
)

func TestInternalTeamsPreviewTheGiftSiteOverGRPC(t *testing.T) {
	t.Parallel()
	addr := testenv.FreeAddr(t)
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.GRPCAddr = addr }})
	conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	operations := giftsitev1.NewGiftSiteOperationsServiceClient(conn)
	req := &giftsitev1.PreviewGiftSiteRequest{
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}, TenantId: f.TenantID, BrandId: uuid.NewString(),
		CampaignId: new(uuid.NewString()), Page: giftsitev1.PreviewPage_PREVIEW_PAGE_CHOOSE,
	}
	var resp *giftsitev1.PreviewGiftSiteResponse
	require.Eventually(t, func() bool {
		resp, err = operations.PreviewGiftSite(t.Context(), req)
		return err == nil
	}, gatewaytest.Patience, 20*time.Millisecond)
	require.Contains(t, resp.GetHtml(), ">Dark truffles<")
	req.Page = 0
	_, err = operations.PreviewGiftSite(t.Context(), req)
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
}
