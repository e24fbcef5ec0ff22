package giftsite

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// The pages that show only a message.
const (
	stateThanks  = "thanks"
	stateClaimed = "claimed"
	stateExpired = "expired"
	stateWaiting = "waiting"
	stateUnknown = "unknown"
	stateFailing = "failing"
	stateLimited = "limited"
	stateRefused = "refused"
)

// renderState shows the state of a link that is not open.
func (s *Site) renderState(w http.ResponseWriter, link *linksv1.GetClaimPageResponse) {
	v := messageView{view: s.linkView(link)}
	v.Label, v.Message = "", "" // Only players who can still choose see them.
	status := http.StatusOK
	switch link.GetState() {
	case linksv1.ClaimState_CLAIM_STATE_CLAIMED:
		v.State = stateClaimed
	case linksv1.ClaimState_CLAIM_STATE_WAITING:
		v.State = stateWaiting
	case linksv1.ClaimState_CLAIM_STATE_EXPIRED:
		v.State, status = stateExpired, http.StatusGone
	default: // A state that this gateway does not know yet.
		v.State, v.Retry, status = stateFailing, true, http.StatusServiceUnavailable
	}
	s.renderTitled(w, status, v)
}

// renderMessage shows a message without a link, in the language of the browser.
func (s *Site) renderMessage(w http.ResponseWriter, r *http.Request, status int, state string) {
	v := messageView{view: newView(s.translations.accepted(r.Header.Get("Accept-Language"))), State: state}
	v.Retry = state == stateFailing || state == stateLimited
	if state == stateFailing {
		v.RequestID = w.Header().Get("Request-Id")
	}
	s.renderTitled(w, status, v)
}

func (s *Site) renderTitled(w http.ResponseWriter, status int, v messageView) {
	v.setTitle(v.T(v.State + ".heading"))
	s.render(w, status, pageState, v)
}

const unavailableRetryAfter = 30 * time.Second

// unavailable writes the page for an unavailable service.
func (s *Site) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	httperror.AbortIfCallerLeft(r.Context(), err)
	s.Log.WarnContext(r.Context(), "gift page failed", "error", err)
	httperror.SetRetryAfter(w.Header(), unavailableRetryAfter)
	s.renderMessage(w, r, http.StatusServiceUnavailable, stateFailing)
}

// view holds the fields of every page.
type view struct {
	*texts

	Title string
	// Failed means that the page shows errors, which changes the title.
	Failed bool
	// ContentLang is the language of the link's own texts if it is not that of the page.
	ContentLang string
	Brand       string
	Logo        string
	Palette     palette
	Label       string
	Message     string
	// RequestID is shown on an error page, for questions to support.
	RequestID string
}

// LongLabel reports whether the label is too long for the size of a heading. It may have 255 characters.
func (v view) LongLabel() bool { return utf8.RuneCountInString(v.Label) > 60 }

// newView makes the view of a page without a brand.
func newView(t *texts) view {
	return view{texts: t, Title: t.T("title"), Palette: paletteOf("")}
}

func (s *Site) linkView(link *linksv1.GetClaimPageResponse) view {
	v := newView(s.translations.of(link.GetLocale()))
	v.Brand = link.GetBrand().GetName()
	v.Logo = s.logo(link.GetBrand().GetLogoUrl())
	v.Palette = paletteOf(link.GetBrand().GetPrimaryColour())
	v.Label, v.Message = link.GetLabel(), link.GetMessage()
	if link.GetLocale() != v.Lang {
		v.ContentLang = link.GetLocale()
	}
	v.setTitle(v.T("title"))
	return v
}

// setTitle sets the title of the page, with the brand.
func (v *view) setTitle(title string) {
	v.Title = title
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
}

// logo returns a brand's logo if it was uploaded to the catalog. Pages load nothing from other servers, which could otherwise
// see who opens a link.
func (s *Site) logo(address string) string {
	if originOf(address) != s.imageOrigin {
		return ""
	}
	return address
}

// originOf returns the origin of an address, as a Content-Security-Policy names it.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// BrandStyle sets the brand's colours for the style sheet.
func (v view) BrandStyle() template.CSS {
	p := v.Palette
	return template.CSS(":root{--fill:" + p.Fill.String() + ";--on-fill:" + p.OnFill.String() + //nolint:gosec // Four colours.
		";--ink:" + p.Ink.String() + ";--tint:" + p.Tint.String() + "}")
}

// Icon is the icon of the page in the brand's colour. It also keeps browsers from requesting one.
func (v view) Icon() template.URL {
	p := v.Palette
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="` + p.Fill.String() +
		`"/><path d="M7 13h18v4H7zm2 5h14v8H9zm7-5v13m0-13c-2-6-8-6-7-2 .5 2 4 2 7 2 3 0 6.5 0 7-2 1-4-5-4-7 2" fill="none" stroke="` +
		p.OnFill.String() + `" stroke-width="2" stroke-linejoin="round"/></svg>`
	return template.URL("data:image/svg+xml," + url.PathEscape(svg)) //nolint:gosec // Only two colours vary.
}

// messageView is a page that shows only a message.
type messageView struct {
	view

	// State is the prefix of the keys of its texts, and the name of its symbol.
	State string
	Retry bool
}

// picture is an image of a gift: its largest version, and the renditions from which a browser chooses.
type picture struct {
	Source  string
	Sources string
}

// pictureOf returns the first picture of a gift.
func (s *Site) pictureOf(images []*linksv1.ClaimImage) picture {
	if all := s.picturesOf(images); len(all) > 0 {
		return all[0]
	}
	return picture{}
}

// picturesOf returns the pictures of a gift. Each has renditions, which have a width, and then its original, which has none. Images
// that the pages may not load are left out.
func (s *Site) picturesOf(images []*linksv1.ClaimImage) (all []picture) {
	var p picture
	var sources []string
	end := func() {
		p.Sources = strings.Join(sources, ", ")
		if p.Source == "" && len(sources) > 0 {
			p.Source, _, _ = strings.Cut(sources[0], " ")
		}
		if p.Source != "" {
			all = append(all, p)
		}
		p, sources = picture{}, nil
	}
	for _, image := range images {
		allowed := originOf(image.GetUrl()) == s.imageOrigin && !strings.ContainsAny(image.GetUrl(), " ,")
		switch {
		case image.Width == nil:
			if allowed {
				p.Source = image.GetUrl()
			}
			end()
		case allowed:
			sources = append(sources, fmt.Sprintf("%s %dw", image.GetUrl(), image.GetWidth()))
		}
	}
	end()
	return all
}
