package giftsite

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The states of the order page, to stateClaimed, and of pages that show only a message. They begin the keys of the texts.
const (
	stateThanks    = "thanks"
	stateSent      = "sent"
	stateDelivered = "delivered"
	stateCancelled = "cancelled"
	stateClaimed   = "claimed"
	stateExpired   = "expired"
	stateWaiting   = "waiting"
	stateUnknown   = "unknown"
	stateFailing   = "failing"
	stateLimited   = "limited"
	stateRefused   = "refused"
)

// renderState shows the state of a link that is not open.
func (s *Site) renderState(w http.ResponseWriter, link *linksv1.GetClaimPageResponse) {
	v := messageView{view: s.linkView(link)}
	v.hideChoosing()
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
	if v.Retry && r.Method == http.MethodPost {
		if _, err := readForm(w, r); err == nil {
			v.Sent = r.PostForm
		}
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
	// DarkLogo is the logo of dark pages; empty: they show Logo on a light plate.
	DarkLogo string
	Theme    theme
	Label    string
	Message  string
	// Sender signs the note; nil: the brand.
	Sender *sender
	// Greeting is that of the campaign, Hero the picture above it.
	Greeting string
	Hero     picture
	// LinkPicture is what messengers show of the link; empty: the brand has neither a hero picture nor a logo.
	LinkPicture string
	// Seen means that the player has already received the greeting.
	Seen bool
	// First is the picture that is seen first; nil: none. The browser requests it before all others.
	First *picture
	// Links are at the end of each page, Privacy is also where personal data is asked for, and Home where a player goes who has
	// nothing left to do here.
	Links         []siteLink
	Privacy, Home string
	// RequestID is shown on an error page, for questions to support.
	RequestID string
}

// sender is the person who signs the note. Name is empty if the brand has not set it; the others are pictures, empty: none.
type sender struct {
	Name, Portrait, Signature string
}

// ErrorHeading is above the list of errors.
func (v view) ErrorHeading() string { return v.T("problem.heading") }

// Signer is the name of who signs the note.
func (v view) Signer() string {
	if v.Sender == nil {
		return v.Brand
	}
	return cmp.Or(v.Sender.Name, v.Brand)
}

// WholeLabel is the label without places to break a line after a hyphen: a name such as Anne-Marie stays on one line.
func (v view) WholeLabel() string {
	const wordJoiner = "\u2060"
	return strings.ReplaceAll(v.Label, "-", "-"+wordJoiner)
}

// LongLabel reports whether the label is too long for the size of a heading. It may have 255 characters.
func (v view) LongLabel() bool { return utf8.RuneCountInString(v.Label) > 60 }

// newView makes the view of a page without a brand.
func newView(t *texts) view {
	return view{texts: t, Title: t.T("title"), Theme: newTheme("", "")}
}

func (s *Site) linkView(link *linksv1.GetClaimPageResponse) view {
	v := newView(s.translations.textsFor(link.GetLocale()))
	v.Brand = link.GetBrand().GetName()
	v.Logo = s.logo(link.GetBrand().GetLogoUrl())
	v.Theme = themeOf(link.GetBrand())
	if v.Logo != "" && v.Theme.DarkMedia() != "" {
		v.DarkLogo = s.imageOf(link.GetBrand().GetSite().GetTheme().GetDarkLogoImageId())
	}
	v.Label, v.Message, v.Greeting = link.GetLabel(), link.GetMessage(), link.GetGreeting()
	v.setSite(link.GetBrand().GetSite())
	if from := link.GetBrand().GetSite().GetSender(); from != nil {
		v.Sender = &sender{from.GetName(), s.imageOf(from.GetPortraitImageId()), s.imageOf(from.GetSignatureImageId())}
	}
	if v.Hero = s.pictureOf(link.GetBrand().GetHero(), nil); v.Hero.Source != "" {
		v.Hero.Sizes = "100vw"
		v.markFirst(&v.Hero)
	}
	v.LinkPicture = linkPicture(v.Hero.Source, v.Logo)
	if v.Theme.Scheme == schemeDark {
		v.LinkPicture = linkPicture(v.Hero.Source, cmp.Or(v.DarkLogo, v.Logo))
	}
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

// siteLink is a link to a page of the brand. Key is that of its text.
type siteLink struct {
	Key, Href string
}

func (v *view) setSite(site *tenantsv1.GiftSite) {
	v.Privacy, v.Home = site.GetPrivacyUrl(), site.GetHomeUrl()
	for _, link := range []siteLink{
		{"links.privacy", site.GetPrivacyUrl()},
		{"links.terms", site.GetTermsUrl()},
		{"links.support", site.GetSupportUrl()},
		{"links.imprint", site.GetImprintUrl()},
	} {
		if link.Href != "" {
			v.Links = append(v.Links, link)
		}
	}
}

// hideSeen leaves out what the player has already seen.
func (v *view) hideSeen() {
	v.Message, v.Greeting, v.Hero, v.First, v.Seen = "", "", picture{}, nil, true
}

// hideChoosing leaves out what only players see who can still choose.
func (v *view) hideChoosing() {
	v.hideSeen()
	v.Label = ""
}

// markFirst marks the picture that is seen first, unless there is one above it.
func (v *view) markFirst(p *picture) {
	if v.First == nil && p.Source != "" {
		p.First = true
		first := *p
		v.First = &first
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

// imageOf is the address of an image of the catalog; empty: there is none.
func (s *Site) imageOf(id string) string {
	if id == "" {
		return ""
	}
	return s.imageURL + id
}

// linkPicture is the address of the picture that the catalog makes of the hero picture and the logo. It has neither the token nor
// anything of the player, so anybody may keep a copy.
func linkPicture(heroURL, logoURL string) string {
	folder, hero := path.Split(heroURL)
	folderOfLogo, logo := path.Split(logoURL)
	if hero+logo == "" {
		return ""
	}
	return cmp.Or(folder, folderOfLogo) + hero + "-" + logo
}

// originOf returns the origin of an address, as a Content-Security-Policy names it.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// ThemeStyle sets the brand's colours and fonts for the style sheet.
func (v view) ThemeStyle() template.CSS { return v.Theme.Style() }

// Font is the path of the brand's font; empty: the pages have the font of the device.
func (v view) Font() string { return fonts[v.Theme.Typeface].path }

// Icon is the icon of the page in the brand's colour. It also keeps browsers from requesting one.
func (v view) Icon() template.URL {
	p := v.Theme.Light
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="` +
		p.Panel.String() + `"/><path d="M7 13h18v4H7zm2 5h14v8H9zm7-5v13m0-13c-2-6-8-6-7-2 .5 2 4 2 7 2 3 0 6.5 0 7-2 1-4-5-4-7 2"` +
		` fill="none" stroke="` +
		p.OnPanel.String() + `" stroke-width="2" stroke-linejoin="round"/></svg>`
	return template.URL("data:image/svg+xml," + url.PathEscape(svg)) //nolint:gosec // Only two colours vary.
}

// messageView is a page that shows only a message.
type messageView struct {
	view

	// State is the prefix of the keys of its texts, and the name of its symbol.
	State string
	Retry bool
	// Sent are the fields of a form that could not be kept: the button sends them again. They exist nowhere else.
	Sent url.Values
}

// picture is an image of a gift: its largest version, and the renditions from which a browser chooses.
type picture struct {
	Source  string
	Sources string
	// Sizes are the widths at which the page shows it.
	Sizes string
	// First means that it is seen first. All others are loaded when they come into view.
	First bool
	// Alt says what it shows, Caption which values. Empty: the page says it beside the picture, or it is not known.
	Alt, Caption string
	// shows are the values that it shows, by dimension.
	shows map[string]string
}

// fit is how many of the picked values the picture shows; 0: it shows none, or another one.
func (p picture) fit(picked map[string]string) int {
	if !matches(p.shows, picked) {
		return 0
	}
	return len(p.shows)
}

// Preload are attributes of an element that requests the picture. Templates would escape imagesrcset as one address.
func (p picture) Preload() template.HTMLAttr {
	if p.Sources == "" {
		return ""
	}
	//nolint:gosec // Escaped.
	return template.HTMLAttr(
		`imagesrcset="` + template.HTMLEscapeString(p.Sources) + `" imagesizes="` + template.HTMLEscapeString(p.Sizes) + `"`,
	)
}

// The widths of pictures in the style sheet.
const (
	sizesCard   = "(min-width: 68rem) 20rem, (min-width: 56rem) 30vw, (min-width: 36rem) 46vw, calc(100vw - 2.25rem)"
	sizesDetail = "(min-width: 68rem) 33rem, (min-width: 56rem) 50vw, calc(100vw - 2.25rem)"
)

// pictureOf returns the first picture of a gift of which values are picked.
func (s *Site) pictureOf(images []*linksv1.ClaimImage, picked map[string]string) picture {
	if all := s.picturesOf(images, picked); len(all) > 0 {
		return all[0]
	}
	return picture{}
}

// picturesOf returns the pictures of a gift, first those that show the picked values. Each has renditions, which have a width, and
// then its original, which has none. Images that the pages may not load are left out.
func (s *Site) picturesOf(images []*linksv1.ClaimImage, picked map[string]string) (all []picture) {
	var p picture
	var sources []string
	end := func() {
		p.Sources, p.Sizes = strings.Join(sources, ", "), sizesCard
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
			p.shows = image.GetVariations()
			if allowed {
				p.Source = image.GetUrl()
			}
			end()
		case allowed:
			sources = append(sources, fmt.Sprintf("%s %dw", image.GetUrl(), image.GetWidth()))
		}
	}
	end()
	slices.SortStableFunc(all, func(a, b picture) int { return b.fit(picked) - a.fit(picked) })
	return all
}
