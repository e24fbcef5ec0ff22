package conformance_test

import (
	"strconv"
	"strings"
)

// change alters a record before it is sent.
type change = func(r record)

// with sets the member at the path, such as recipient.address.city or items.0.productId.
func with(path string, value any) change {
	return func(r record) {
		holder, name := holderOf(r, path)
		switch holder := holder.(type) {
		case record:
			holder[name] = value
		case []any:
			i, _ := strconv.Atoi(name)
			holder[i] = value
		}
	}
}

// without removes the members at the paths.
func without(paths ...string) change {
	return func(r record) {
		for _, path := range paths {
			holder, name := holderOf(r, path)
			if holder, ok := holder.(record); ok {
				delete(holder, name)
			}
		}
	}
}

func holderOf(r record, path string) (holder any, name string) {
	if i := strings.LastIndex(path, "."); i >= 0 {
		return at(r, path[:i]), path[i+1:]
	}
	return r, path
}

// all applies several changes as one.
func all(changes ...change) change {
	return func(r record) {
		for _, change := range changes {
			change(r)
		}
	}
}

// ofGift orders the gift, in its variations if it has any.
func ofGift(productID string, variations ...record) change {
	item := record{"productId": productID}
	if len(variations) > 0 {
		item["variations"] = variations[0]
	}
	return func(r record) { r["items"] = []any{item} }
}

// ofCampaign orders from the campaign, whose brand it takes.
func ofCampaign(campaignID string) change {
	return all(without("brandId"), with("campaignId", campaignID))
}

// fromCampaign lets the recipients of a batch choose from the campaign.
func fromCampaign(campaignID string) change {
	return all(ofCampaign(campaignID), without("productIds"))
}

// recipient sets a member of the batch's one recipient.
func recipient(member string, value any) change { return with("recipients.0."+member, value) }

// custom asks for something that is in no catalog, within the budget.
func custom(amount any, currency string) change {
	return with("items", []any{record{"customProductName": "A signed jersey", "budget": record{"amount": amount, "currency": currency}}})
}

func small() record { return record{"Size": "S"} }
