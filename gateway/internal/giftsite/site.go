// Package giftsite serves the pages of a personal link, where a player chooses a gift and enters an address. They are rendered
// on the server and need no JavaScript.
//
// The token in the path is the only authorization. It is in no log, span, metric or Referer. The response to an unknown token
// does not reveal whether its link ever existed.
package giftsite

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// Prefix begins the path of every page; the token follows.
	Prefix = "/c/"
	// Route is the path in metrics and spans.
	Route = Prefix + "{token}"
)

// callTimeout bounds the calls of one request. A claim reserves stock and places an order.
const callTimeout = 12 * time.Second

// Deps are what a Site works with.
type Deps struct {
	// Links finds the links of all cells.
	Links linksv1.GiftSiteServiceClient
	// Visits and Claims limit the pages read and the forms sent.
	Visits, Claims Limits
	ClientIP       func(r *http.Request) string
	Clock          func() time.Time
	Log            *slog.Logger
}

// Limits of requests with valid tokens.
type Limits struct {
	// Address limits a client address, over all gateways.
	Address *limits.Limiter
	// Link limits one link at a client address.
	Link *limits.Window
}

// Config of a Site. PublicURL is the base address of the API. It serves an image of the catalog at ImagesPath, which ends with a
// slash, and its id.
type Config struct {
	PublicURL, ImagesPath string
}

// Site serves the paths below Prefix.
type Site struct {
	Deps

	lookups      *lookups
	translations *translations
	crossOrigin  *http.CrossOriginProtection
	assets       staticfile.Handler
	// imageOrigin is the only origin that pages may load images from.
	imageOrigin string
	// imageURL is the address of an image without its id.
	imageURL string
	https    bool
}

// New makes a Site.
func New(deps Deps, cfg Config) (*Site, error) {
	tr, err := readTranslations()
	if err != nil {
		return nil, err
	}
	return &Site{
		Deps: deps, lookups: newLookups(deps.Links, deps.Clock), translations: tr, crossOrigin: http.NewCrossOriginProtection(),
		assets: staticfile.Handler{
			Files:  assets,
			Policy: "default-src 'none'; frame-ancestors 'none'",
			Errors: httperror.Writer{Log: deps.Log},
		},
		imageOrigin: originOf(cfg.PublicURL), https: strings.HasPrefix(cfg.PublicURL, "https:"),
		imageURL: cfg.PublicURL + cfg.ImagesPath,
	}, nil
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := assets[r.URL.Path]; ok {
		s.assets.ServeHTTP(w, r)
		return
	}
	if f, ok := assetOfOtherVersion(r.URL.Path); ok {
		files := s.assets
		files.Files = map[string]staticfile.File{r.URL.Path: f}
		files.ServeHTTP(w, r)
		return
	}
	if staticfile.AcceptsGzip(r.Header) {
		w = compressed{w}
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	v := &visit{w: w, r: r, nonce: nonceFrom(r)}
	var ok bool
	if v.token, v.link, ok = s.check(w, r); !ok {
		return
	}
	if r.Method == http.MethodPost {
		s.post(v)
		return
	}
	if v.link == nil {
		if v.link, ok = s.load(w, r, v.token); !ok {
			return
		}
	}
	s.get(v)
}

// get shows the link in its current state.
func (s *Site) get(v *visit) {
	switch v.link.GetState() {
	case linksv1.ClaimState_CLAIM_STATE_OPEN:
		s.getOpen(v)
	case linksv1.ClaimState_CLAIM_STATE_CLAIMED:
		s.getClaimed(v)
	default:
		s.renderState(v.w, v.link)
	}
}

// load reads the link. On failure it sends the response.
func (s *Site) load(w http.ResponseWriter, r *http.Request, token string) (*linksv1.GetClaimPageResponse, bool) {
	link, err := s.Links.GetClaimPage(r.Context(), &linksv1.GetClaimPageRequest{Token: token})
	switch {
	case problem.Is(err, problem.NotFound):
		s.unknownToken(w, r, token)
		return nil, false
	case err != nil:
		s.unavailable(w, r, err)
		return nil, false
	}
	return link, true
}

// giftOf returns the chosen gift, or the only one, unless it is out of stock.
func giftOf(link *linksv1.GetClaimPageResponse, id string) *linksv1.ClaimGift {
	for _, g := range link.GetGifts() {
		if (g.GetProductId() == id || len(link.GetGifts()) == 1) && !g.GetOutOfStock() {
			return g
		}
	}
	return nil
}
