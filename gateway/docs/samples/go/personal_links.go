package samples

import (
	"context"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// CreatePersonalLinks shows createPersonalLinks.
func CreatePersonalLinks(ctx context.Context, client *gifting.Client, campaignID string) (*gifting.PersonalLinkResults, error) {
	// sample: createPersonalLinks
	created, err := client.PersonalLinks.Create(ctx, gifting.CreatePersonalLinksRequest{
		CampaignID: &campaignID,
		Recipients: []gifting.PersonalLinkRecipient{{Label: "Ann", ExternalRecipientID: new("player-42")}},
	})
	if err != nil {
		return nil, err
	}
	for _, result := range created.Results {
		if result.Link != nil {
			fmt.Println(result.Link.ClaimURL)
		} else {
			fmt.Println(result.Index, result.Errors)
		}
	}
	// end
	return created, nil
}

// ListPersonalLinks shows listPersonalLinks.
func ListPersonalLinks(ctx context.Context, client *gifting.Client) error {
	// sample: listPersonalLinks
	for link, err := range client.PersonalLinks.List(ctx, gifting.ListPersonalLinksQuery{ExternalRecipientID: "player-42"}).All() {
		if err != nil {
			return err
		}
		fmt.Println(link.ID, link.Status)
	}
	// end
	return nil
}

// GetPersonalLink shows getPersonalLink.
func GetPersonalLink(ctx context.Context, client *gifting.Client, linkID string) error {
	// sample: getPersonalLink
	link, err := client.PersonalLinks.Get(ctx, linkID)
	if err != nil {
		return err
	}
	fmt.Println(link.Status, link.ClaimURL)
	// end
	return nil
}

// CancelPersonalLink shows cancelPersonalLink.
func CancelPersonalLink(ctx context.Context, client *gifting.Client, linkID string) error {
	// sample: cancelPersonalLink
	link, err := client.PersonalLinks.Cancel(ctx, linkID, gifting.CancelPersonalLinkRequest{Reason: "The player has left."})
	if err != nil {
		return err
	}
	fmt.Println(link.Status)
	// end
	return nil
}
