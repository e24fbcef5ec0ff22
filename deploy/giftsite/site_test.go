//go:build browser

package giftsite_test

import (
	"context"
	"encoding/base64"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed/picture"
	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// links stands for the services behind the pages, so that a test can show every page.
type links struct {
	linksv1.UnimplementedGiftSiteServiceServer
	catalogv1.UnimplementedImagesServiceServer

	mu sync.Mutex
	// page is what the one link there is shows; nil: there is none.
	page *linksv1.GetClaimPageResponse
	// fault is the answer to the next claim.
	fault error
	// down is the answer to everything.
	down bool
}

// put makes the link show the page.
func (l *links) put(page *linksv1.GetClaimPageResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page = page
}

func (l *links) GetClaimPage(_ context.Context, r *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
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
	if fault := l.fault; fault != nil {
		l.fault = nil
		return nil, fault
	}
	if err := check(r.GetRecipient()); err != nil {
		return nil, err
	}
	l.page.State, l.page.Gifts = linksv1.ClaimState_CLAIM_STATE_CLAIMED, nil
	return &linksv1.ClaimLinkResponse{State: l.page.GetState(), OrderReference: proto.String("NP-4F7K2M")}, nil
}

// check finds some of the faults the service finds, in its words.
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
	name, figure, _ := strings.Cut(r.GetFileId(), ".")
	content, err := picture.PNG(name, figure)
	if err != nil {
		return nil, err
	}
	return &catalogv1.GetImageResponse{ContentType: "image/png", Content: content, Digest: r.GetFileId()}, nil
}

// site is a gateway with links behind it.
type site struct {
	*links

	base string
}

func startSite(t *testing.T) *site {
	t.Helper()
	services, address := freeAddr(t), freeAddr(t)
	s := &site{links: &links{}, base: "http://" + address}
	server, err := rpc.NewServer(rpc.Config{Addr: services}, telemetry.Discard())
	require.NoError(t, err)
	linksv1.RegisterGiftSiteServiceServer(server, s.links)
	catalogv1.RegisterImagesServiceServer(server, s.links)
	edge, err := gateway.New(t.Context(), gateway.Config{
		HTTPAddr: address, Environment: apikey.Sandbox, PublicURL: s.base + "/api/public/v1",
		TenantsAddr: services, CatalogAddr: services, OrdersAddr: services, PersonalLinksAddr: services,
		EventsAddr: services, WebhookAddr: services, FingerprintKey: base64.StdEncoding.EncodeToString(make([]byte, 32)),
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
	return s
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func listens(t *testing.T, addr string) bool {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// gift has a picture; its figure is one the demo draws.
func (s *site) gift(slug, figure, name, description string) *linksv1.ClaimGift {
	return &linksv1.ClaimGift{
		ProductId: slug, Name: name, Description: description, Countries: []string{"SE", "NO", "DK", "FI", "DE", "IE", "AX"},
		Images: []*linksv1.ClaimImage{{Url: s.base + "/api/public/v1/catalog/images/" + slug + "." + figure}},
	}
}

// open is a link at which everything there is can be seen: choices, some of them gone, and a gift that is gone.
func (s *site) open(locale, colour string) *linksv1.GetClaimPageResponse {
	shirt := s.gift("hooded-sweatshirt", "shirt", "Hooded sweatshirt", "Heavy organic cotton, brushed inside.")
	shirt.Variations = []*linksv1.ClaimVariation{
		{Dimension: "Size", Values: []string{"S", "M", "L"}}, {Dimension: "Colour", Values: []string{"Navy", "Grey"}},
	}
	for _, choice := range [][2]string{{"S", "Navy"}, {"S", "Grey"}, {"M", "Grey"}, {"L", "Navy"}} {
		shirt.Choices = append(shirt.Choices, &linksv1.ClaimChoice{Variations: map[string]string{"Size": choice[0], "Colour": choice[1]}})
	}
	bottle := s.gift("steel-bottle", "bottle", "Steel bottle", "Keeps a drink cold for a day, and a cup of tea hot for a morning.")
	bottle.Variations = []*linksv1.ClaimVariation{
		{Dimension: "Size", Values: []string{"0.5 l", "0.75 l"}}, {Dimension: "Colour", Values: []string{"Steel", "White", "Black"}},
	}
	vase := s.gift("glass-vase", "cup", "Glass vase", "Mouth-blown in Småland.")
	vase.OutOfStock = true
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: locale, Label: "Astrid",
		Message: proto.String("Happy birthday! Thank you for five years with us."),
		Brand:   &linksv1.ClaimBrand{Name: "Nordlys Casino", PrimaryColour: proto.String(colour)},
		Gifts: []*linksv1.ClaimGift{
			s.gift("dark-truffles", "box", "Dark truffles, box of 24", "Hand-rolled truffles with 70 % cocoa in a linen-covered box."),
			bottle, shirt, vase,
			s.gift("scented-candle", "ball", "Scented candle", "Birch and sea salt, burns for sixty hours."),
		},
	}
}

// closed is a link at which nothing can be chosen.
func closed(state linksv1.ClaimState) *linksv1.GetClaimPageResponse {
	return &linksv1.GetClaimPageResponse{
		State: state, Locale: "en-US", Label: "Astrid",
		Brand: &linksv1.ClaimBrand{Name: "Nordlys Casino", PrimaryColour: proto.String("#1B4B8F")},
	}
}
