package giftsite

import (
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// getClaimed shows how far the order is. The browser whose form claimed the link also sees the gift, the masked address and the
// parcel. Others with the link see the progress only: perhaps the link was passed on, and the number of a parcel leads to its
// address.
func (s *Site) getClaimed(v *visit) {
	req := &linksv1.GetClaimedGiftRequest{Token: v.token}
	if v.nonce != "" {
		req.FormNonce = proto.String(v.nonce)
	}
	found, err := s.Links.GetClaimedGift(v.r.Context(), req)
	switch {
	case problem.Is(err, problem.NotFound): // Orders has lost it, or the link is being erased.
		s.renderState(v.w, v.link)
		return
	case err != nil:
		s.unavailable(v.w, v.r, err)
		return
	case found.GetGift() == nil:
		s.render(v.w, http.StatusOK, pageOrder, s.orderView(v, found))
		return
	}
	s.keepNonce(v, orderLifetime)
	if found.GetGift().CorrectableVersion != nil {
		if !s.loadDraft(v) {
			return
		}
		if v.r.URL.Query().Get(fieldStep) == stepCorrect {
			s.render(v.w, http.StatusOK, pageCorrect, s.correctView(v, found.GetGift()))
			return
		}
	}
	s.render(v.w, http.StatusOK, pageOrder, s.orderView(v, found))
}

// postCorrection corrects where the gift is sent. Inputs that are left empty change nothing.
func (s *Site) postCorrection(v *visit, f form) {
	typed := &linksv1.SaveClaimDraftRequest{Recipient: f.recipient()}
	typed.Recipient.Country = "" // It stays.
	if len(f.InvalidText) > 0 {
		typed.Answer = invalidText(f.InvalidText)
		if s.saveDraft(v, typed) {
			s.redirect(v, stepCorrect)
		}
		return
	}
	if v.nonce == "" || proto.Size(typed.GetRecipient()) == 0 {
		s.redirect(v, "")
		return
	}
	_, err := s.Links.CorrectClaimedGift(v.r.Context(), &linksv1.CorrectClaimedGiftRequest{
		Token: v.token, FormNonce: v.nonce, ExpectedVersion: f.Version, Recipient: typed.GetRecipient(),
	})
	switch {
	case problem.Is(err, problem.NotEditable): // The first page shows that it was sent.
		s.redirect(v, "")
	case err != nil:
		s.answerForm(v, typed, err, stepCorrect)
	default:
		s.redirect(v, stepCorrected)
	}
}
