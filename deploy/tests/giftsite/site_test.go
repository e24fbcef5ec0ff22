//go:build browser

package giftsite_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// fixture is a gateway in front of fake services.
type fixture struct {
	*fakeServices

	base string
	// operations is where internal teams ask for previews, and tenant whom they may ask about.
	operations, tenant string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ports, err := deps.FreeRow(t.Context(), 3)
	require.NoError(t, err)
	services, address := fmt.Sprintf("127.0.0.1:%d", ports), fmt.Sprintf("127.0.0.1:%d", ports+1)
	f := &fixture{
		fakeServices: &fakeServices{drafts: map[string]*linksv1.ClaimDraft{}}, base: "http://" + address,
		operations: fmt.Sprintf("127.0.0.1:%d", ports+2), tenant: uuid.NewString(),
	}
	directory := tenantstest.NewDirectory(t, &tenantstest.Settings{Tenant: &tenantsv1.Tenant{Id: f.tenant}})
	server, err := rpc.NewServer(rpc.Config{Addr: services}, telemetry.Discard())
	require.NoError(t, err)
	linksv1.RegisterGiftSiteServiceServer(server, f.fakeServices)
	catalogv1.RegisterImagesServiceServer(server, f.fakeServices)
	edge, err := gateway.New(t.Context(), gateway.Config{
		HTTPAddr: address, GRPCAddr: f.operations, Environment: apikey.Sandbox, PublicURL: f.base + "/api/public/v1",
		TenantsAddr: directory.Addr, CatalogAddr: services, OrdersAddr: services, PersonalLinksAddr: services,
		EventsAddr: services, WebhookAddr: services, FingerprintKey: []string{base64.StdEncoding.EncodeToString(make([]byte, 32))},
	}, telemetry.Discard())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx) }()
	go func() { ended <- edge.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	})
	for _, addr := range []string{services, address, f.operations} {
		require.Eventually(t, func() bool { return listens(t, addr) }, 30*time.Second, 5*time.Millisecond)
	}
	return f
}

func listens(t *testing.T, addr string) bool {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

const images = "/api/public/v1/catalog/images/"

// gift has a picture of the demo data.
func (f *fixture) gift(slug, name, description string) *linksv1.ClaimGift {
	return &linksv1.ClaimGift{
		ProductId: slug, Name: name, Description: description, Countries: []string{"SE", "NO", "DK", "FI", "DE", "IE", "AX"},
		Images: []*linksv1.ClaimImage{{Url: f.base + images + slug}},
	}
}

// openPage is a link with everything that a page can show: choices, some of them out of stock, and a gift that is out of stock.
func (f *fixture) openPage(locale, colour string) *linksv1.GetClaimPageResponse {
	shirt := f.gift("hooded-sweatshirt", "Hooded sweatshirt", "Heavy organic cotton, brushed inside.")
	shirt.Variations = []*linksv1.ClaimVariation{
		{Dimension: "Size", Values: []string{"S", "M", "L"}}, {Dimension: "Colour", Values: []string{"Navy", "Grey"}},
	}
	for _, choice := range [][2]string{{"S", "Navy"}, {"S", "Grey"}, {"M", "Grey"}, {"L", "Navy"}} {
		shirt.Choices = append(shirt.Choices, &linksv1.ClaimChoice{Variations: map[string]string{"Size": choice[0], "Colour": choice[1]}})
	}
	bottle := f.gift("steel-bottle", "Steel bottle", "Keeps a drink cold for a day, and a cup of tea hot for a morning.")
	bottle.Variations = []*linksv1.ClaimVariation{
		{Dimension: "Size", Values: []string{"0.5 l", "0.75 l"}}, {Dimension: "Colour", Values: []string{"Steel", "White", "Black"}},
	}
	bottle.TakesInitials = true
	bottle.Details = &catalogv1.GiftDetails{
		Maker: "Norrfors", Material: "Stainless steel", Size: "7 cm wide",
		Story: "Drawn from one piece of steel.\n\nIt has no seam, so nothing can leak.",
	}
	vase := f.gift("glass-vase", "Glass vase", "Mouth-blown in Småland.")
	vase.OutOfStock = true
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: locale, Label: "Astrid",
		Message: proto.String("Happy birthday! Thank you for five years with us."),
		Brand: &linksv1.ClaimBrand{
			Name: "Nordlys Casino", PrimaryColour: proto.String(colour), LogoUrl: proto.String(f.base + images + "logo-nordlys-casino"),
			Site: &tenantsv1.GiftSite{
				PrivacyUrl: proto.String("https://nordlys.example/privacy"), TermsUrl: proto.String("https://nordlys.example/terms"),
				SupportUrl: proto.String("mailto:vip@nordlys.example"), ImprintUrl: proto.String("https://nordlys.example/imprint"),
				HomeUrl: proto.String("https://nordlys.example/vip"), Theme: &tenantsv1.Theme{},
				DeliveryTimes: []*tenantsv1.DeliveryTime{
					{Country: "SE", MinBusinessDays: 3, MaxBusinessDays: 5},
					{Country: "FI", MinBusinessDays: 3, MaxBusinessDays: 5},
					{Country: "DE", MinBusinessDays: 4, MaxBusinessDays: 6},
				},
			},
		},
		Gifts: []*linksv1.ClaimGift{
			f.gift("dark-truffles", "Dark truffles, box of 24", "Hand-rolled truffles with 70% cocoa in a linen-covered box."),
			bottle, shirt, vase,
			f.gift("scented-candle", "Scented candle", "Birch and sea salt, burns for sixty hours."),
		},
	}
}

// withLook gives the page the theme, the pictures and the sender of a brand that cares.
func (f *fixture) withLook(page *linksv1.GetClaimPageResponse) *linksv1.GetClaimPageResponse {
	page.Brand.Hero = []*linksv1.ClaimImage{{Url: f.base + images + "hero-nordlys-casino"}}
	page.Brand.Site.Theme = &tenantsv1.Theme{
		AccentColour: proto.String("#0B7C88"), Typeface: tenantsv1.Typeface_TYPEFACE_SERIF,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND, DarkLogoImageId: proto.String("logo-nordlys-casino-dark"),
	}
	page.Brand.Site.Sender = &tenantsv1.Sender{
		Name: proto.String("Maja Sandström"), PortraitImageId: proto.String("portrait-nordlys-casino"),
		SignatureImageId: proto.String("signature-nordlys-casino"),
	}
	page.Greeting = proto.String("It is time to celebrate.\nChoose something that makes a long evening a little brighter.")
	return page
}

// closedPage is a link that is not open.
func closedPage(state linksv1.ClaimState, locale string) *linksv1.GetClaimPageResponse {
	return &linksv1.GetClaimPageResponse{
		State: state, Locale: locale, Label: "Astrid",
		Brand: &linksv1.ClaimBrand{Name: "Nordlys Casino", PrimaryColour: proto.String("#1B4B8F")},
	}
}
