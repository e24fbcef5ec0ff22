package preview_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/preview"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	public = "https://gifts.example/api/public/v1"
	cup    = "0123456789abcdef0123456789abcdef"
)

// fixture is the server with a tenant, whose team has one member.
type fixture struct {
	*preview.Server

	directory     *tenantstest.Directory
	links         *links
	images        *images
	letters       []string
	tenant, brand string
	member        *commonv1.Actor
}

// links has one page. It records the last request.
type links struct {
	linksv1.GiftSiteServiceClient

	page    *linksv1.GetClaimPageResponse
	failure error
	asked   *linksv1.GetPreviewPageRequest
	// cell is the one that was called.
	cell string
	// entered is called while a page is read.
	entered func()
}

func (l *links) GetPreviewPage(
	ctx context.Context, r *linksv1.GetPreviewPageRequest, _ ...grpc.CallOption,
) (*linksv1.GetPreviewPageResponse, error) {
	if l.entered != nil {
		l.entered()
	} else {
		l.asked, l.cell = r, caller.CellOf(ctx)
	}
	return &linksv1.GetPreviewPageResponse{Page: proto.CloneOf(l.page)}, l.failure
}

// images has one image.
type images struct {
	catalogv1.ImagesServiceClient

	content []byte
	failure error
	read    []string
}

func (i *images) GetImage(
	_ context.Context, r *catalogv1.GetImageRequest, _ ...grpc.CallOption,
) (*catalogv1.GetImageResponse, error) {
	i.read = append(i.read, r.GetFileId())
	switch {
	case i.failure != nil:
		return nil, i.failure
	case r.GetFileId() != cup:
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetImageResponse{ContentType: "image/jpeg", Content: i.content}, nil
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		tenant: uuid.NewString(), brand: uuid.NewString(), images: &images{content: []byte("a cup")},
		member: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: "ann"},
		links: &links{page: &linksv1.GetClaimPageResponse{
			Locale: "en-US", Brand: &linksv1.ClaimBrand{Name: "North Club"},
			Gifts: []*linksv1.ClaimGift{{
				ProductId: "cup", Name: "Cup", Countries: []string{"SE"}, Images: []*linksv1.ClaimImage{
					{Url: public + "/catalog/images/" + cup},
				},
			}},
		}},
	}
	f.directory = tenantstest.NewDirectory(t, &tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: f.tenant}, Team: []*tenantsv1.TeamMember{
			{Id: "ann", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
		},
	})
	site, err := giftsite.New(giftsite.Deps{Clock: time.Now, Log: slog.New(slog.DiscardHandler)},
		giftsite.Config{PublicURL: public, ImagesPath: "/catalog/images/"})
	require.NoError(t, err)
	f.Server = preview.New(preview.Deps{
		Site: site, Links: f.links, Images: f.images, Tenants: tenants.NewGlobalCache(f.directory.Client),
		Letters: func(context.Context) []string { return f.letters },
	}, preview.Config{ImageURL: public + "/catalog/images/"})
	return f
}

// request is a preview of the campaign's list of gifts by a member of the team, with changes.
func (f *fixture) request(change func(r *giftsitev1.PreviewGiftSiteRequest)) *giftsitev1.PreviewGiftSiteRequest {
	r := &giftsitev1.PreviewGiftSiteRequest{
		Actor: f.member, TenantId: f.tenant, BrandId: f.brand, Page: giftsitev1.PreviewPage_PREVIEW_PAGE_CHOOSE,
		CampaignId: new(uuid.NewString()),
	}
	change(r)
	return r
}

func asIs(*giftsitev1.PreviewGiftSiteRequest) {}

// html is the document of a preview that must succeed.
func (f *fixture) html(t *testing.T, change func(r *giftsitev1.PreviewGiftSiteRequest)) string {
	t.Helper()
	resp, err := f.PreviewGiftSite(t.Context(), f.request(change))
	require.NoError(t, err)
	return resp.GetHtml()
}

func TestAPreviewHasTheGiftsAndPicturesOfTheCampaign(t *testing.T) {
	t.Parallel()
	f := setup(t)
	html := f.html(t, asIs)
	require.Contains(t, html, ">Cup<")
	require.Contains(t, html, "data:image/jpeg;base64,"+base64.StdEncoding.EncodeToString([]byte("a cup")))
	require.NotContains(t, html, "gifts.example")
	require.Equal(t, []string{cup}, f.images.read)
	require.Nil(t, f.links.asked.GetSite(), "the saved one")
	require.Nil(t, f.links.asked.Greeting)
	require.Nil(t, f.links.asked.Locale)
}

func TestAPreviewWithoutACampaignHasExampleGifts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.links.page.Gifts = nil
	require.Contains(t, f.html(t, func(r *giftsitev1.PreviewGiftSiteRequest) { r.CampaignId = nil }), ">Example mug<")
	for number := 1; number < len(giftsitev1.PreviewPage_name); number++ {
		f.html(t, func(r *giftsitev1.PreviewGiftSiteRequest) { r.CampaignId, r.Page = nil, giftsitev1.PreviewPage(number) })
	}
	_, err := f.PreviewGiftSite(t.Context(),
		f.request(func(r *giftsitev1.PreviewGiftSiteRequest) { r.Page = giftsitev1.PreviewPage_PREVIEW_PAGE_GIFT }))
	require.True(t, problem.Is(err, problem.NoProducts), "a campaign without gifts: %v", err)
}

func TestWhatIsProposedIsCheckedAndComplete(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.html(t, func(r *giftsitev1.PreviewGiftSiteRequest) {
		r.Site, r.Greeting, r.Locale = &tenantsv1.GiftSite{HomeUrl: new("https://north.example")}, new(" Hej\r\ndu "), new("sv-SE")
		r.TenantId = strings.ToUpper(r.GetTenantId())
	})
	require.Equal(t, "https://north.example", f.links.asked.GetSite().GetHomeUrl())
	require.Equal(t, tenantsv1.Typeface_TYPEFACE_SYSTEM, f.links.asked.GetSite().GetTheme().GetTypeface(), "as PutGiftSite stores it")
	require.Equal(t, "Hej\ndu", f.links.asked.GetGreeting())
	require.Equal(t, "sv-SE", f.links.asked.GetLocale())
	require.Equal(t, f.tenant, f.links.asked.GetTenantId())
}

func TestAllErrorsOfAPreviewAreFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, tc := range map[string]struct {
		change func(r *giftsitev1.PreviewGiftSiteRequest)
		want   []string
	}{
		"an empty request": {
			func(r *giftsitev1.PreviewGiftSiteRequest) { proto.Reset(r) },
			[]string{"actor required", "tenantId required", "brandId required", "page required"},
		},
		"ids that are none": {
			func(r *giftsitev1.PreviewGiftSiteRequest) { r.TenantId, r.BrandId, r.CampaignId = "x", "x", new("") },
			[]string{"tenantId invalid", "brandId invalid", "campaignId invalid"},
		},
		"words of no enum": {
			func(r *giftsitev1.PreviewGiftSiteRequest) { r.Page, r.Device = 99, 99 },
			[]string{"page invalid", "device invalid"},
		},
		"a long greeting": {
			func(r *giftsitev1.PreviewGiftSiteRequest) { r.Greeting = new(strings.Repeat("x", 1001)) },
			[]string{"greeting too_long"},
		},
		"a blank greeting": {func(r *giftsitev1.PreviewGiftSiteRequest) { r.Greeting = new(" ") }, []string{"greeting required"}},
		"a theme with errors": {func(r *giftsitev1.PreviewGiftSiteRequest) {
			r.Site = &tenantsv1.GiftSite{
				SupportUrl: new("javascript:alert(1)"),
				Theme:      &tenantsv1.Theme{AccentColour: new("red"), Corners: 9},
			}
		}, []string{"site.supportUrl invalid", "site.theme.accentColour invalid", "site.theme.corners invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.PreviewGiftSite(t.Context(), f.request(tc.change))
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, problem.InvalidRequest, p.Code)
			var got []string
			for _, v := range p.Violations {
				got = append(got, v.Field+" "+v.Code)
			}
			require.ElementsMatch(t, tc.want, got)
		})
	}
	require.Nil(t, f.links.asked, "none is passed on")
}

func TestWhoMayPreview(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, tc := range map[string]struct {
		actor *commonv1.Actor
		want  problem.Code
	}{
		"a member":                   {f.member, ""},
		"the operator":               {&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"}, ""},
		"the platform":               {&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}, ""},
		"a member of another tenant": {&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: "bo"}, problem.NotFound},
		"a client": {
			&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "c"}, problem.InsufficientScope,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.links.asked = nil
			_, err := f.PreviewGiftSite(t.Context(), f.request(func(r *giftsitev1.PreviewGiftSiteRequest) { r.Actor = tc.actor }))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, problem.Is(err, tc.want), "%v", err)
			require.Nil(t, f.links.asked)
		})
	}
	_, err := f.PreviewGiftSite(t.Context(), f.request(func(r *giftsitev1.PreviewGiftSiteRequest) { r.TenantId = uuid.NewString() }))
	require.True(t, problem.Is(err, problem.NotFound), "a tenant that does not exist: %v", err)
}

func TestErrorsOfTheServicesArePassedOn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.images.failure = problem.Unavailable()
	_, err := f.PreviewGiftSite(t.Context(), f.request(asIs))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "a preview without its pictures would mislead: %v", err)
	f.images.failure = problem.Internal()
	require.NotContains(t, f.html(t, asIs), "<img", "one picture whose file is lost is left out")
	f.links.failure = problem.New(problem.CampaignNotFound, "no")
	_, err = f.PreviewGiftSite(t.Context(), f.request(asIs))
	require.True(t, problem.Is(err, problem.CampaignNotFound), "%v", err)
}

func TestAPictureThatIsHiddenOrTooLargeIsLeftOut(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.links.page.Gifts[0].Images = []*linksv1.ClaimImage{{Url: public + "/catalog/images/hidden"}}
	require.NotContains(t, f.html(t, asIs), "<img", "an image that is not public is left out")
	f.images.content = bytes.Repeat([]byte("a"), giftsite.MaxPreview)
	f.links.page.Gifts[0].Images = []*linksv1.ClaimImage{{Url: public + "/catalog/images/" + cup}}
	require.NotContains(t, f.html(t, asIs), "<img", "so is one that does not fit")
}

func TestFewPreviewsAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const most = 4
	var inside atomic.Int32
	full, release := make(chan struct{}), make(chan struct{})
	f.links.page.Gifts = nil
	f.links.entered = func() {
		if inside.Add(1) == most {
			close(full)
		}
		<-release
	}
	var group errgroup.Group
	for range most {
		group.Go(func() error {
			_, err := f.PreviewGiftSite(t.Context(), f.request(asIs))
			return err
		})
	}
	<-full
	ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	_, err := f.PreviewGiftSite(ctx, f.request(asIs))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	require.EqualValues(t, most, inside.Load())
	close(release)
	require.NoError(t, group.Wait())
}

func TestAPreviewIsOfTheCellOfItsTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.member.Kind, f.member.Id = commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, "bo" // No team is read for it.
	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { s.Cell = "b" })
	f.letters = []string{"a"}
	f.html(t, asIs)
	require.Empty(t, f.links.cell)
	require.Zero(t, f.directory.Calls("GetTenantSettings"), "with one cell, the directory is not asked")
	f.letters = []string{"a", "b"}
	f.html(t, asIs)
	require.Equal(t, "b", f.links.cell)
	f.directory.Fail(problem.Unavailable())
	_, err := f.PreviewGiftSite(t.Context(), f.request(asIs))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
}
