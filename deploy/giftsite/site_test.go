//go:build browser

package giftsite_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// links are fakes of the services behind the pages, so that a test can show every page.
type links struct {
	linksv1.UnimplementedGiftSiteServiceServer
	catalogv1.UnimplementedImagesServiceServer

	mu sync.Mutex
	// page is the page of the only link; nil: there is none.
	page *linksv1.GetClaimPageResponse
	// claimedBy is the nonce of the form that claimed the link.
	claimedBy string
	// answerLost means that the next claim succeeds, but its answer is lost.
	answerLost bool
	// claimFailure is the result of the next claim.
	claimFailure error
	// unavailable means that every call fails.
	unavailable bool
}

// change changes what the services return.
func (l *links) change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *links) show(page *linksv1.GetClaimPageResponse) { l.change(func() { l.page = page }) }

func (l *links) GetClaimPage(_ context.Context, r *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unavailable {
		return nil, problem.Unavailable()
	}
	if r.GetToken() != token || l.page == nil {
		return nil, problem.RecordNotFound()
	}
	return proto.CloneOf(l.page), nil
}

func (l *links) ClaimLink(_ context.Context, r *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.claimFailure; err != nil {
		l.claimFailure = nil
		return nil, err
	}
	if err := check(r.GetRecipient()); err != nil {
		return nil, err
	}
	if l.page.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN && (r.GetFormNonce() == "" || r.GetFormNonce() != l.claimedBy) {
		return &linksv1.ClaimLinkResponse{State: l.page.GetState()}, nil
	}
	l.page.State, l.page.Gifts, l.claimedBy = linksv1.ClaimState_CLAIM_STATE_CLAIMED, nil, r.GetFormNonce()
	if l.answerLost {
		l.answerLost = false
		return nil, problem.Unavailable()
	}
	return &linksv1.ClaimLinkResponse{State: l.page.GetState(), OrderReference: proto.String("NP-4F7K2M")}, nil
}

// check reports some of the violations that the service reports.
func check(r *linksv1.ClaimRecipient) error {
	var found []problem.Violation
	for field, value := range map[string]string{
		"recipient.name": r.GetName(), "recipient.phone": r.GetPhone(), "recipient.address.street": r.GetStreet(),
		"recipient.address.postalCode": r.GetPostalCode(), "recipient.address.city": r.GetCity(), "recipient.address.country": r.GetCountry(),
	} {
		if value == "" {
			found = append(found, problem.Violation{Field: field, Code: problem.FieldRequired})
		}
	}
	if r.GetPhone() != "" && !strings.HasPrefix(r.GetPhone(), "+") {
		found = append(found, problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid})
	}
	if len(found) > 0 {
		return problem.Invalid(found...)
	}
	return nil
}

func (l *links) GetImage(_ context.Context, r *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	content, err := seed.Image(r.GetFileId())
	if err != nil {
		return nil, err
	}
	return &catalogv1.GetImageResponse{ContentType: "image/webp", Content: content, Digest: r.GetFileId()}, nil
}

// fixture is a gateway in front of links.
type fixture struct {
	*links

	base string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ports := freePorts(t, 2)
	services, address := fmt.Sprintf("127.0.0.1:%d", ports), fmt.Sprintf("127.0.0.1:%d", ports+1)
	f := &fixture{links: &links{}, base: "http://" + address}
	server, err := rpc.NewServer(rpc.Config{Addr: services}, telemetry.Discard())
	require.NoError(t, err)
	linksv1.RegisterGiftSiteServiceServer(server, f.links)
	catalogv1.RegisterImagesServiceServer(server, f.links)
	edge, err := gateway.New(t.Context(), gateway.Config{
		HTTPAddr: address, Environment: apikey.Sandbox, PublicURL: f.base + "/api/public/v1",
		TenantsAddr: services, CatalogAddr: services, OrdersAddr: services, PersonalLinksAddr: services,
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
	for _, addr := range []string{services, address} {
		require.Eventually(t, func() bool { return listens(t, addr) }, 5*time.Second, 5*time.Millisecond)
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

// gift has a picture of the demo data.
func (f *fixture) gift(slug, name, description string) *linksv1.ClaimGift {
	return &linksv1.ClaimGift{
		ProductId: slug, Name: name, Description: description, Countries: []string{"SE", "NO", "DK", "FI", "DE", "IE", "AX"},
		Images: []*linksv1.ClaimImage{{Url: f.base + "/api/public/v1/catalog/images/" + slug}},
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
	vase := f.gift("glass-vase", "Glass vase", "Mouth-blown in Småland.")
	vase.OutOfStock = true
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: locale, Label: "Astrid",
		Message: proto.String("Happy birthday! Thank you for five years with us."),
		Brand:   &linksv1.ClaimBrand{Name: "Nordlys Casino", PrimaryColour: proto.String(colour)},
		Gifts: []*linksv1.ClaimGift{
			f.gift("dark-truffles", "Dark truffles, box of 24", "Hand-rolled truffles with 70 % cocoa in a linen-covered box."),
			bottle, shirt, vase,
			f.gift("scented-candle", "Scented candle", "Birch and sea salt, burns for sixty hours."),
		},
	}
}

// closedPage is a link that is not open.
func closedPage(state linksv1.ClaimState) *linksv1.GetClaimPageResponse {
	return &linksv1.GetClaimPageResponse{
		State: state, Locale: "en-US", Label: "Astrid",
		Brand: &linksv1.ClaimBrand{Name: "Nordlys Casino", PrimaryColour: proto.String("#1B4B8F")},
	}
}
