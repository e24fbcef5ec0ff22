package giftsite

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// visit is a request for a link that exists.
type visit struct {
	w     http.ResponseWriter
	r     *http.Request
	token string
	// nonce is the random text of the browser's form, see newNonce; empty: it has sent none.
	nonce string
	link  *linksv1.GetClaimPageResponse
	// newForm means that this request has begun the form.
	newForm bool
	// draft is what the form has entered so far. It is empty, not nil, for a new form.
	draft *linksv1.ClaimDraft
	// refused is what the player has just typed into the form of a claimed link, if it was refused.
	refused refusedText
}

const (
	formCookie = "gift_form"
	// draftLifetime is how long the service keeps a draft, orderLifetime how long a browser sees the order that it has placed.
	draftLifetime = 24 * time.Hour
	orderLifetime = 90 * 24 * time.Hour
)

// nonceForm is the form of the texts that newNonce makes.
var nonceForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// newNonce makes the random text of a form. Of all who have the link, only those who have this text see what was entered and, after
// the claim, the order. So it is only in a cookie: never in an address, a page or a log.
func newNonce() string { return rand.Text() }

func nonceFrom(r *http.Request) string {
	cookie, err := r.Cookie(formCookie)
	if err != nil || !nonceForm.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}

// keepNonce stores the nonce in the browser, for the pages of this link. It is also sent when the player comes back from another
// site, such as webmail. A form of another site is refused by isCrossSite.
func (s *Site) keepNonce(v *visit, lifetime time.Duration) {
	http.SetCookie(v.w, &http.Cookie{ //nolint:gosec // Secure is set if the site is reached by HTTPS.
		Name: formCookie, Value: v.nonce, Path: Prefix + v.token, MaxAge: int(lifetime.Seconds()),
		HttpOnly: true, Secure: s.https, SameSite: http.SameSiteLaxMode,
	})
}

// loadDraft reads what the form has entered. On failure it sends the response.
func (s *Site) loadDraft(v *visit) bool {
	v.draft = &linksv1.ClaimDraft{}
	if v.nonce == "" {
		return true
	}
	kept, err := s.Links.GetClaimDraft(v.r.Context(), &linksv1.GetClaimDraftRequest{Token: v.token, FormNonce: v.nonce})
	if err != nil {
		s.answerFailure(v, err)
		return false
	}
	if kept.GetDraft() != nil {
		v.draft = kept.GetDraft()
	}
	return true
}

// saveDraft stores what a form has sent, so that the page after the redirect can show it. A browser without a nonce gets one. If it
// returns false, the response was sent: the link has ended, or nothing could be stored. Only then a form is answered without a
// redirect: what was typed exists only in the request, and reloading the page sends it again.
func (s *Site) saveDraft(v *visit, req *linksv1.SaveClaimDraftRequest) bool {
	if v.nonce == "" {
		v.nonce, v.newForm = newNonce(), true
	}
	req.Token, req.FormNonce = v.token, v.nonce
	saved, err := s.Links.SaveClaimDraft(v.r.Context(), req)
	switch {
	case problem.Is(err, problem.PayloadTooLarge):
		s.renderMessage(v.w, v.r, http.StatusRequestEntityTooLarge, stateRefused)
		return false
	case problem.Is(err, problem.InvalidRequest):
		s.renderMessage(v.w, v.r, http.StatusBadRequest, stateRefused) // No form of these pages sends it.
		return false
	case err != nil:
		s.answerFailure(v, err)
		return false
	}
	v.draft = saved.GetDraft()
	if v.draft == nil {
		s.redirectUnused(v)
		return false
	}
	lifetime := draftLifetime
	if saved.GetState() == linksv1.ClaimState_CLAIM_STATE_CLAIMED {
		lifetime = orderLifetime
	}
	s.keepNonce(v, lifetime)
	return true
}

// answerFailure sends the response to a call that failed.
func (s *Site) answerFailure(v *visit, err error) {
	if problem.Is(err, problem.NotFound) {
		s.unknownToken(v.w, v.r, v.token)
		return
	}
	s.unavailable(v.w, v.r, err)
}

// redirect redirects to a page of the link, whose reload sends nothing. An empty step is the first page. Pairs of name and value
// are added to the query; they are no personal data.
func (s *Site) redirect(v *visit, step string, pairs ...string) {
	if v.newForm {
		pairs = append(pairs, queryKept, "1")
	}
	v.w.Header().Set("Location", Prefix+v.token+stepQuery(step, pairs...))
	s.write(v.w, http.StatusSeeOther, nil)
}

// redirectUnused redirects after a form of which nothing is used, because another device has claimed the link or the draft is gone.
func (s *Site) redirectUnused(v *visit) { s.redirect(v, stepReview, queryKept, "1") }

// stepQuery is the query of a page. The first page has none.
func stepQuery(step string, pairs ...string) string {
	if step == "" {
		return ""
	}
	query := "?" + fieldStep + "=" + step
	for pair := range slices.Chunk(pairs, 2) {
		query += "&" + pair[0] + "=" + url.QueryEscape(pair[1])
	}
	return query
}

// draftLost reports whether the browser has sent a form and nothing of it is kept.
func (v *visit) draftLost() bool {
	return v.r.URL.Query().Has(queryKept) && v.draft.GetVersion() == 0 && v.draft.GetAnswer() == nil
}
