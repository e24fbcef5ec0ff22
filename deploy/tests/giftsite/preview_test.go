//go:build browser

package giftsite_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (l *fakeServices) GetPreviewPage(
	ctx context.Context, _ *linksv1.GetPreviewPageRequest,
) (*linksv1.GetPreviewPageResponse, error) {
	page, err := l.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: token})
	return &linksv1.GetPreviewPageResponse{Page: page}, err
}

// preview returns the document of a page.
func (f *fixture) preview(t *testing.T, page giftsitev1.PreviewPage, device tenantsv1.ColourScheme) string {
	t.Helper()
	conn, err := rpc.Dial(rpc.Target{Addr: f.operations}, telemetry.Discard())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	resp, err := giftsitev1.NewGiftSiteOperationsServiceClient(conn).PreviewGiftSite(t.Context(), &giftsitev1.PreviewGiftSiteRequest{
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}, TenantId: f.tenant, BrandId: uuid.NewString(),
		CampaignId: new(uuid.NewString()), Page: page, Device: device,
	})
	require.NoError(t, err)
	return resp.GetHtml()
}

// A browser shows the whole page of a preview, and sends no request for it.
func TestAPreviewShowsThePageAndLoadsNothing(t *testing.T) {
	forEveryCustomer(t, func(t *testing.T, f *fixture, b *browser, link *linksv1.GetClaimPageResponse) {
		f.reset(link)
		var document string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, document) }))
		t.Cleanup(server.Close)
		for number := 1; number < len(giftsitev1.PreviewPage_name); number++ {
			page := giftsitev1.PreviewPage(number)
			name := strings.ToLower(strings.TrimPrefix(page.String(), "PREVIEW_PAGE_"))
			document = f.preview(t, page, tenantsv1.ColourScheme_COLOUR_SCHEME_UNSPECIFIED)
			b.visit(t, server.URL+"/"+name, 200)
			b.inspectSchemes(t, "50-preview-"+name)
			require.Equal(t, "[]",
				b.value(t, `JSON.stringify([...document.images].filter((i) => i.naturalWidth === 0).map((i) => i.outerHTML.slice(0, 99)))`))
			require.Equal(t, int64(0),
				get(t, b, chromedp.Evaluate[int64](`document.querySelectorAll("script, form, [href]:not([href^='data:'])").length`)))
		}
		b.requireNoErrors(t)
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range b.requests {
			if !strings.HasPrefix(r.URL, "data:") && !strings.HasPrefix(r.URL, server.URL+"/") {
				require.Fail(t, "a preview loads something", r.URL)
			}
			require.False(t, strings.HasSuffix(r.URL, ".ico"), "the icon is inside")
		}
	})
}

// What a preview shows is what the player sees.
func TestAPreviewLooksAsThePage(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		link := f.withLook(f.openPage(locale, "#1B4B8F"))
		link.Label = "Alex" // The player of every preview.
		f.reset(link)
		const seen = `document.querySelector("main").innerText.replace(/\s+/g, " ") + " " +
			[...document.querySelectorAll("h1, .gifts > li, .picture, .logo, .hero")].map((e) => {
				const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height].map(Math.round);
			}).join(" ")`
		for page, query := range map[giftsitev1.PreviewPage]string{
			giftsitev1.PreviewPage_PREVIEW_PAGE_CHOOSE: "?step=choose",
			giftsitev1.PreviewPage_PREVIEW_PAGE_GIFT:   "?gift=dark-truffles",
		} {
			b.visit(t, f.base+"/c/"+token+query, 200)
			want := b.value(t, seen)
			document := f.preview(t, page, tenantsv1.ColourScheme_COLOUR_SCHEME_UNSPECIFIED)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, document) }))
			b.visit(t, server.URL, 200)
			require.Equal(t, want, b.value(t, seen), page)
			server.Close()
		}
	})
}
