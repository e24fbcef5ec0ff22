package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// draftOf is the choice and the recipient of claimOf.
func draftOf(l *linksv1.PersonalLink, nonce string) *linksv1.SaveClaimDraftRequest {
	claim := claimOf(l)
	return &linksv1.SaveClaimDraftRequest{
		Token: claim.GetToken(), FormNonce: nonce, Recipient: claim.GetRecipient(), CheckRecipient: true,
		Gift: &linksv1.ClaimChoiceOfGift{ProductId: claim.GetProductId(), Variations: claim.GetVariations()},
	}
}

func (f *fixture) save(t *testing.T, req *linksv1.SaveClaimDraftRequest) *linksv1.SaveClaimDraftResponse {
	t.Helper()
	resp, err := f.site.SaveClaimDraft(t.Context(), req)
	require.NoError(t, err)
	return resp
}

func (f *fixture) draft(t *testing.T, l *linksv1.PersonalLink, nonce string) *linksv1.ClaimDraft {
	t.Helper()
	resp, err := f.site.GetClaimDraft(t.Context(), &linksv1.GetClaimDraftRequest{Token: token(l), FormNonce: nonce})
	require.NoError(t, err)
	return resp.GetDraft()
}

func TestADraftIsKeptForItsForm(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link, other := f.newLink(t), f.newLink(t)
	saved := f.save(t, draftOf(link, aNonce))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, saved.GetState())
	require.EqualValues(t, 1, saved.GetDraft().GetVersion())
	require.Nil(t, saved.GetDraft().GetAnswer())
	require.Equal(t, "+46 70 123 45 67", saved.GetDraft().GetRecipient().GetPhone())
	require.True(t, proto.Equal(saved.GetDraft(), f.draft(t, link, aNonce)))
	require.Nil(t, f.draft(t, link, anotherForm), "of another browser")
	require.Nil(t, f.draft(t, other, aNonce), "of another link")

	t.Run("and each step changes its part", func(t *testing.T) {
		changed := f.save(t,
			&linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: mugID}})
		require.EqualValues(t, 2, changed.GetDraft().GetVersion())
		require.Equal(t, mugID, changed.GetDraft().GetGift().GetProductId())
		require.Empty(t, changed.GetDraft().GetGift().GetVariations())
		require.Equal(t, "Marked Street 1", changed.GetDraft().GetRecipient().GetStreet())
	})
	t.Run("with the last answer", func(t *testing.T) {
		answer := &linksv1.ClaimAnswer{Code: "out_of_stock", Violations: []*commonv1.Violation{{Field: "variations", Code: "required"}}}
		answered := f.save(t, &linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Answer: answer})
		require.EqualValues(t, 2, answered.GetDraft().GetVersion(), "the player has changed nothing")
		require.True(t, proto.Equal(answer, f.draft(t, link, aNonce).GetAnswer()))
		f.save(t,
			&linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: mugID}})
		require.Nil(t, f.draft(t, link, aNonce).GetAnswer())
	})
}

func TestADraftKeepsWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := setup(t)
	req := draftOf(f.newLink(t), aNonce)
	req.Recipient = &linksv1.ClaimRecipient{
		Name: strings.Repeat("å", 5000), Phone: "070", Email: new("@"), Country: "SE", CourierComment: new(strings.Repeat("å", 501)),
	}
	draft := f.save(t, req).GetDraft()
	require.Equal(t, strings.Repeat("å", 1000), draft.GetRecipient().GetName())
	require.Equal(t, "070", draft.GetRecipient().GetPhone())
	var found []string
	for _, v := range draft.GetAnswer().GetViolations() {
		require.Empty(t, v.GetMessage())
		found = append(found, v.GetField()+" "+v.GetCode())
	}
	require.Equal(t, "invalid_request", draft.GetAnswer().GetCode())
	require.ElementsMatch(t, []string{
		"recipient.name too_long", "recipient.phone invalid", "recipient.email invalid", "recipient.street required",
		"recipient.city required", "recipient.postalCode required", "courierComment too_long",
	}, found)
	t.Run("beside what the caller has found", func(t *testing.T) {
		req.Recipient.Region = new("Gotland")
		violation := &commonv1.Violation{Field: "recipient.region", Code: "invalid"}
		req.Answer = &linksv1.ClaimAnswer{Code: "invalid_request", Violations: []*commonv1.Violation{violation}}
		draft := f.save(t, req).GetDraft()
		require.Equal(t, "Gotland", draft.GetRecipient().GetRegion())
		require.Len(t, draft.GetAnswer().GetViolations(), len(found)+1)
		require.Equal(t, "recipient.region", draft.GetAnswer().GetViolations()[0].GetField())
		req.Recipient = claimOf(f.newLink(t)).GetRecipient()
		require.Len(t, f.save(t, req).GetDraft().GetAnswer().GetViolations(), 1)
		req.Answer = nil
		require.Nil(t, f.save(t, req).GetDraft().GetAnswer())
		req.Recipient = &linksv1.ClaimRecipient{Country: "SE"}
	})
	t.Run("a national number becomes international", func(t *testing.T) {
		req.Recipient.Phone = "070-123 45 67"
		require.Equal(t, "+46 70 123 45 67", f.save(t, req).GetDraft().GetRecipient().GetPhone())
	})
}

func TestADraftIsBounded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	for name, change := range map[string]func(r *linksv1.SaveClaimDraftRequest){
		"formNonce invalid": func(r *linksv1.SaveClaimDraftRequest) { r.FormNonce = "short" },
		"productId invalid": func(r *linksv1.SaveClaimDraftRequest) { r.Gift.ProductId = "x" },
		"answer.violations invalid": func(r *linksv1.SaveClaimDraftRequest) {
			r.Answer = &linksv1.ClaimAnswer{Violations: make([]*commonv1.Violation, 51)}
		},
	} {
		req := draftOf(link, aNonce)
		change(req)
		if req.GetAnswer() != nil {
			for i := range req.GetAnswer().GetViolations() {
				req.Answer.Violations[i] = &commonv1.Violation{}
			}
		}
		_, err := f.site.SaveClaimDraft(t.Context(), req)
		requireViolations(t, err, name)
	}
	req := draftOf(link, aNonce)
	req.Gift.Variations = map[string]string{}
	for i := range 50 {
		req.Gift.Variations[strings.Repeat("😀", 200)+string(rune('A'+i))] = strings.Repeat("😀", 200)
	}
	_, err := f.site.SaveClaimDraft(t.Context(), req)
	require.True(t, problem.Is(err, problem.PayloadTooLarge), "%v", err)
	require.Nil(t, f.draft(t, link, aNonce))
	_, err = f.site.GetClaimDraft(t.Context(), &linksv1.GetClaimDraftRequest{Token: token(link), FormNonce: "x"})
	requireViolations(t, err, "formNonce invalid")
	for _, unknown := range []string{"", "x", strings.Repeat("a", len(token(link)))} {
		req := draftOf(link, aNonce)
		req.Token = unknown
		_, err := f.site.SaveClaimDraft(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	}
}

func TestALinkKeepsItsTwentyNewestDrafts(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link, other := f.newLink(t), f.newLink(t)
	f.save(t, draftOf(other, aNonce))
	nonce := func(i int) string { return strings.Repeat(string(rune('A'+i)), 26) }
	for i := range 22 {
		f.save(t, draftOf(link, nonce(i)))
	}
	require.Equal(t, 21, f.count(t, "form_drafts"))
	require.Nil(t, f.draft(t, link, nonce(1)))
	require.NotNil(t, f.draft(t, link, nonce(2)))
	require.NotNil(t, f.draft(t, other, aNonce))
}

func TestADraftExpires(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.save(t, draftOf(link, aNonce))
	deleted, err := f.store.DeleteExpiredDrafts(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Zero(t, deleted)
	_, err = f.pool.Exec(t.Context(), "UPDATE form_drafts SET expires_at = expires_at - interval '24 hours'")
	require.NoError(t, err)
	require.Nil(t, f.draft(t, link, aNonce))
	fresh := f.save(t,
		&linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: mugID}})
	require.EqualValues(t, 1, fresh.GetDraft().GetVersion(), "it begins again")
	require.Nil(t, fresh.GetDraft().GetRecipient())
	_, err = f.pool.Exec(t.Context(), "UPDATE form_drafts SET expires_at = now() - interval '1 hour'")
	require.NoError(t, err)
	deleted, err = f.store.DeleteExpiredDrafts(t.Context(), 2*time.Hour, 10)
	require.NoError(t, err)
	require.Zero(t, deleted, "while the clock may be wrong")
	deleted, err = f.store.DeleteExpiredDrafts(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	require.Zero(t, f.count(t, "form_drafts"))
}

// Such as one that was saved while the clock of the database was a month ahead.
func TestADraftThatExpiresTooLateIsNotShownAndDeleted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.save(t, draftOf(link, aNonce))
	for _, c := range []struct {
		ahead string
		left  int
	}{{"24 hours", 1}, {"26 hours", 0}} {
		_, err := f.pool.Exec(t.Context(), "UPDATE form_drafts SET expires_at = now() + $1::interval", c.ahead)
		require.NoError(t, err)
		require.Equal(t, c.left == 1, f.draft(t, link, aNonce) != nil, c.ahead)
		_, err = f.store.DeleteExpiredDrafts(t.Context(), 0, 10)
		require.NoError(t, err)
		require.Equal(t, c.left, f.count(t, "form_drafts"), c.ahead)
	}
}

func TestTheEndOfALinkDeletesItsDrafts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, f *fixture, l *linksv1.PersonalLink) error{
		"a claim": func(t *testing.T, f *fixture, l *linksv1.PersonalLink) error {
			_, err := f.site.ClaimLink(t.Context(), formOf(l, aNonce))
			return err
		},
		"a cancellation": func(_ *testing.T, f *fixture, l *linksv1.PersonalLink) error {
			_, err := f.client.CancelPersonalLink(f.post("c"), cancelOf(l))
			return err
		},
		"an erasure": func(t *testing.T, f *fixture, l *linksv1.PersonalLink) error {
			_, err := f.eraseRecords(t, l)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			link, other := f.newLink(t), f.newLink(t)
			for _, nonce := range []string{aNonce, anotherForm} {
				f.save(t, draftOf(link, nonce))
			}
			f.save(t, draftOf(other, aNonce))
			require.NoError(t, end(t, f, link))
			left := 1
			if name == "a claim" {
				left = 2 // That of the form that made it, see TestTheFormThatClaimedKeepsItsRecipient.
			}
			require.Equal(t, left, f.count(t, "form_drafts"))
			require.NotNil(t, f.draft(t, other, aNonce))
			late, err := f.site.SaveClaimDraft(t.Context(), draftOf(link, anotherForm))
			if name == "an erasure" {
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			} else {
				require.NoError(t, err)
				require.Nil(t, late.GetDraft())
				require.NotEqual(t, linksv1.ClaimState_CLAIM_STATE_OPEN, late.GetState())
			}
			require.Equal(t, left, f.count(t, "form_drafts"))
		})
	}
}

// The browser that has claimed shows where the gift is sent, for a day. The draft has version 0: nothing was entered since.
func TestTheFormThatClaimedKeepsItsRecipient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.save(t, draftOf(link, anotherForm))
	claim := formOf(link, aNonce)
	claim.Recipient.CourierComment = new("Ring twice")
	f.claim(t, claim)
	kept := f.draft(t, link, aNonce)
	require.Zero(t, kept.GetVersion())
	require.True(t, proto.Equal(claim.GetRecipient(), kept.GetRecipient()), "%v", kept)
	require.Nil(t, f.draft(t, link, anotherForm))
	require.Equal(t, "Ring twice", f.orders.Placed()[f.orders.Of(link.GetId())[0]].GetCourierComment())

	t.Run("until it corrects it", func(t *testing.T) {
		require.Positive(t, f.save(t, draftOf(link, aNonce)).GetDraft().GetVersion())
	})
}

func TestAClaimWhoseBrowserDisconnectsKeepsItsRecipient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	claim := formOf(link, aNonce)
	ctx, disconnect := context.WithCancel(t.Context())
	f.orders.During(disconnect)
	_, err := f.newServer(f.saga(f.store, f.orders)).ClaimLink(ctx, claim)
	require.NoError(t, err)
	require.Error(t, ctx.Err())
	require.True(t, proto.Equal(claim.GetRecipient(), f.draft(t, link, aNonce).GetRecipient()))
}

// An erasure of a claimed link, too, must delete a correction that its player has begun.
func TestAnErasureDeletesTheDraftOfACorrection(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.claim(t, formOf(link, aNonce))
	f.save(t, draftOf(link, aNonce))
	require.Equal(t, 1, f.count(t, "form_drafts"))
	_, err := f.eraseRecords(t, link)
	require.NoError(t, err)
	require.Zero(t, f.count(t, "form_drafts"))
}

// Whatever runs first, no draft outlives its link.
func TestADraftThatIsSavedWhileItsLinkEndsIsDeleted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	for range 10 {
		link := f.newLink(t)
		problemtest.AtOnce(t, 5, func(i int) error {
			nonce := strings.Repeat(string(rune('A'+i)), 26)
			if i == 0 {
				_, err := f.site.ClaimLink(t.Context(), formOf(link, nonce))
				return err
			}
			_, err := f.site.SaveClaimDraft(t.Context(), draftOf(link, nonce))
			return err
		})
	}
	require.Equal(t, 10, f.count(t, "form_drafts"), "one for each claim, of the form that made it")
}

// Two forms of one browser, such as a double click, lose no step.
func TestConcurrentStepsOfADraftAreBothKept(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	both := draftOf(link, aNonce)
	problemtest.AtOnce(t, 6, func(i int) error {
		step := &linksv1.SaveClaimDraftRequest{Token: both.GetToken(), FormNonce: aNonce, Gift: both.GetGift()}
		if i%2 == 0 {
			step.Gift, step.Recipient = nil, both.GetRecipient()
		}
		_, err := f.site.SaveClaimDraft(t.Context(), step)
		return err
	})
	draft := f.draft(t, link, aNonce)
	require.EqualValues(t, 6, draft.GetVersion())
	require.Equal(t, jerseyID, draft.GetGift().GetProductId())
	require.Equal(t, "Marked Street 1", draft.GetRecipient().GetStreet())
	require.Equal(t, 1, f.count(t, "form_drafts"))
}

func TestABrokenDraftIsAnErrorWithoutItsContent(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.save(t, draftOf(link, aNonce))
	_, err := f.pool.Exec(t.Context(),
		"UPDATE form_drafts SET draft_sealed = set_byte(draft_sealed, length(draft_sealed) - 1, 0) || 'x'")
	require.NoError(t, err)
	_, err = f.site.GetClaimDraft(t.Context(), &linksv1.GetClaimDraftRequest{Token: token(link), FormNonce: aNonce})
	require.True(t, problem.Is(err, problem.InternalError), "%v", err)
	require.NotContains(t, err.Error(), "Marked")
}
