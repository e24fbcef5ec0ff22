package e2e_test

import (
	"strconv"
	"strings"
)

// change alters a record that is about to be sent.
type change func(record map[string]any)

// with sets the member at the path, such as recipient.address.city or items.0.productId.
func with(path string, value any) change {
	return at(path, func(holder any, name string) {
		switch holder := holder.(type) {
		case map[string]any:
			holder[name] = value
		case []any:
			i, _ := strconv.Atoi(name)
			holder[i] = value
		}
	})
}

// without takes the member at the path out.
func without(path string) change {
	return at(path, func(holder any, name string) {
		if record, ok := holder.(map[string]any); ok {
			delete(record, name)
		}
	})
}

func at(path string, do func(holder any, name string)) change {
	return func(record map[string]any) {
		var holder any = record
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			switch next := holder.(type) {
			case map[string]any:
				holder = next[name]
			case []any:
				i, _ := strconv.Atoi(name)
				holder = next[i]
			}
		}
		do(holder, names[len(names)-1])
	}
}

// ofGift orders the gift, in its variations if it has any.
func ofGift(productID string, variations ...map[string]any) change {
	item := map[string]any{"productId": productID}
	if len(variations) > 0 {
		item["variations"] = variations[0]
	}
	return with("items", []any{item})
}

// ofCampaign orders from the campaign, whose brand it takes.
func ofCampaign(campaignID string) change {
	return func(record map[string]any) {
		delete(record, "brandId")
		record["campaignId"] = campaignID
	}
}

// custom asks for something that no catalog has, within the budget.
func custom(amount any, currency string) change {
	return with("items", []any{map[string]any{
		"customProductName": "A signed jersey", "budget": map[string]any{"amount": amount, "currency": currency},
	}})
}
