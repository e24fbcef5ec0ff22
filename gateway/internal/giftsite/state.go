package giftsite

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

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
func (s *Site) renderState(w http.ResponseWriter, r *http.Request, link *linksv1.GetClaimPageResponse) {
	v := messageView{view: s.linkView(link)}
	status := http.StatusOK
	switch link.GetState() {
	case linksv1.ClaimState_CLAIM_STATE_CLAIMED:
		v.State = stateClaimed
		if v.Reference = referenceFrom(r); v.Reference != "" {
			v.State = stateThanks
		}
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
	v.Title = v.T(v.State + ".heading")
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
	s.render(w, status, pageState, v)
}

const (
	minRetryAfter         = time.Second
	unavailableRetryAfter = 30 * time.Second
)

// unavailable writes the page for an unavailable service.
func (s *Site) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	httperror.AbortIfCallerLeft(r.Context(), err)
	s.Log.WarnContext(r.Context(), "gift page failed", "error", err)
	httperror.SetRetryAfter(w.Header(), unavailableRetryAfter)
	s.renderMessage(w, r, http.StatusServiceUnavailable, stateFailing)
}

const (
	referenceCookie   = "gift_order"
	referenceLifetime = time.Hour
)

var referenceForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// setReferenceCookie stores the reference of the order in the browser that placed it, for the next page. No other browser gets
// it, because others may have the link too. It is also sent when the player comes back from another site, such as webmail. Nothing
// is allowed because of it: a claim does not read it.
func (s *Site) setReferenceCookie(w http.ResponseWriter, token, reference string) {
	if !referenceForm.MatchString(reference) {
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set if the site is reached by HTTPS.
		Name: referenceCookie, Value: reference, Path: Prefix + token, MaxAge: int(referenceLifetime.Seconds()),
		HttpOnly: true, Secure: s.https, SameSite: http.SameSiteLaxMode,
	})
}

func referenceFrom(r *http.Request) string {
	cookie, err := r.Cookie(referenceCookie)
	if err != nil || !referenceForm.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
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
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
	return v
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

// card is a gift in the list.
type card struct {
	ID          string
	Name        string
	Description string
	Picture     picture
	Gone        bool
}

// listView is the page that lists the gifts.
type listView struct {
	view

	Cards []card
	// Problem explains why the player has to choose again.
	Problem string
	// Entered holds the texts that the player has already entered. If it is empty, the form is a plain GET.
	Entered []hiddenInput
	// AllGone means that no gift is available.
	AllGone bool
}

type hiddenInput struct {
	Name, Value string
}

func (s *Site) listView(link *linksv1.GetClaimPageResponse, f form) listView {
	p := listView{view: s.linkView(link), AllGone: true}
	for _, g := range link.GetGifts() {
		p.Cards = append(p.Cards, s.cardOf(g))
		p.AllGone = p.AllGone && g.GetOutOfStock()
	}
	for _, field := range fieldOrder {
		if value := f.Entered[field]; value != "" {
			p.Entered = append(p.Entered, hiddenInput{Name: field, Value: value})
		}
	}
	if len(p.Entered) > 0 && f.Nonce != "" {
		p.Entered = append(p.Entered, hiddenInput{Name: fieldNonce, Value: f.Nonce})
	}
	return p
}

func (s *Site) cardOf(g *linksv1.ClaimGift) card {
	return card{
		ID: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(),
		Picture: s.pictureOf(g.GetImages()), Gone: g.GetOutOfStock(),
	}
}

// messageView is a page that shows only a message.
type messageView struct {
	view

	// State is the prefix of the keys of its texts, and the name of its symbol.
	State     string
	Reference string
	Retry     bool
}

// picture is the first image of a gift: its largest version, and the renditions from which a browser chooses.
type picture struct {
	Source  string
	Sources string
}

// pictureOf returns the first image: its renditions, which have a width, and its original. It ignores images that the pages
// may not load.
func (s *Site) pictureOf(images []*linksv1.ClaimImage) picture {
	var p picture
	var sources []string
	for _, image := range images {
		original := image.Width == nil
		if original && p.Source != "" {
			break
		}
		if originOf(image.GetUrl()) != s.imageOrigin || strings.ContainsAny(image.GetUrl(), " ,") {
			continue
		}
		if original {
			p.Source = image.GetUrl()
			if len(sources) > 0 {
				break
			}
			continue
		}
		sources = append(sources, fmt.Sprintf("%s %dw", image.GetUrl(), image.GetWidth()))
	}
	p.Sources = strings.Join(sources, ", ")
	if p.Source == "" && len(sources) > 0 {
		p.Source, _, _ = strings.Cut(sources[0], " ")
	}
	return p
}
