package giftsite

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// Prefix begins the path of every page; the token follows.
	Prefix = "/c/"
	// Route is the path as metrics and spans name it.
	Route = Prefix + "{token}"
)

// callTimeout bounds the calls of one request. A claim reserves stock and places an order.
const callTimeout = 12 * time.Second

// Options of the site.
type Options struct {
	Links linksv1.GiftSiteServiceClient
	// PublicURL is the base address of the API, where the gifts' pictures are.
	PublicURL string
	// Visits and Claims bound the requests of a client address: pages read, forms sent.
	Visits, Claims *limits.Limiter
	// Unknown bounds the tokens of an address that name no link.
	Unknown *limits.Window
	// ClientIP tells whose limit a request counts against.
	ClientIP func(r *http.Request) string
	Log      *slog.Logger
}

// Site answers the paths below Prefix.
type Site struct {
	Options

	translations *translations
	guard        *http.CrossOriginProtection
	// pictures is where gifts' pictures come from; secure: the pages are reached by https.
	pictures string
	secure   bool
}

// New makes the site.
func New(o Options) (*Site, error) {
	tr, err := readTranslations()
	if err != nil {
		return nil, err
	}
	return &Site{
		Options: o, translations: tr, guard: http.NewCrossOriginProtection(),
		pictures: originOf(o.PublicURL), secure: strings.HasPrefix(o.PublicURL, "https:"),
	}, nil
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, ok := s.admit(w, r)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	if r.Method == http.MethodPost {
		s.post(w, r, token)
		return
	}
	s.get(w, r, token)
}

// get shows the link as it is.
func (s *Site) get(w http.ResponseWriter, r *http.Request, token string) {
	link, ok := s.load(w, r, token)
	if !ok {
		return
	}
	if link.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN && remembered(r) != "" {
		// This browser placed the order: after a fault the link may end a little later.
		link.State = linksv1.ClaimState_CLAIM_STATE_CLAIMED
	}
	if link.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN {
		s.renderState(w, r, link)
		return
	}
	s.renderOpen(w, link, form{Gift: r.URL.Query().Get(fieldGift)})
}

// load asks for the link. Without one the answer is given already.
func (s *Site) load(w http.ResponseWriter, r *http.Request, token string) (*linksv1.GetClaimPageResponse, bool) {
	link, err := s.Links.GetClaimPage(r.Context(), &linksv1.GetClaimPageRequest{Token: token})
	switch {
	case problem.Is(err, problem.NotFound):
		s.unknown(w, r)
		return nil, false
	case err != nil:
		s.failing(w, r, err)
		return nil, false
	}
	return link, true
}

// renderOpen shows the chosen gift, or all of them when none is chosen that can be.
func (s *Site) renderOpen(w http.ResponseWriter, link *linksv1.GetClaimPageResponse, f form) {
	gift := giftOf(link, f.Gift)
	if gift == nil || f.Step == stepList && len(link.GetGifts()) > 1 {
		s.render(w, http.StatusOK, pageList, s.listView(link, f))
		return
	}
	s.render(w, http.StatusOK, pageForm, s.formView(link, gift, f, nil))
}

// giftOf finds the gift to show: the one that was chosen, or the only one; never one that is gone.
func giftOf(link *linksv1.GetClaimPageResponse, id string) *linksv1.ClaimGift {
	for _, g := range link.GetGifts() {
		if (g.GetProductId() == id || len(link.GetGifts()) == 1) && !g.GetOutOfStock() {
			return g
		}
	}
	return nil
}
