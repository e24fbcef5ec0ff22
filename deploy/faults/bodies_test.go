//go:build faults

package faults_test

import (
	"crypto/rand"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

var (
	allScopes = []commonv1.Scope{
		commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS,
	}
	coordinator = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: seed.Approver, Name: "Felix Brandt"}
	clerk       = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}
)

type object = map[string]any

// text is JSON of what can be nothing else.
func text(o object) string {
	raw, err := json.Marshal(o)
	if err != nil {
		return err.Error() // It is refused then.
	}
	return string(raw)
}

// orderBody places an order of the product under the brand.
func orderBody(product, brand string) object {
	return object{
		"externalOrderId": "faults-" + rand.Text(),
		"brandId":         brand,
		"items":           []any{object{"productId": product}},
		"client":          object{"name": markedName, "email": markedEmail},
		"recipient": object{
			"name": markedName, "phone": markedPhone, "email": markedEmail,
			"address": object{"street": markedStreet, "city": "Visby", "postalCode": "621 57", "country": "SE"},
		},
	}
}

// batchBody makes so many links.
func batchBody(product, brand string, links int) object {
	recipients := make([]any, links)
	for i := range recipients {
		recipients[i] = object{"label": markedName, "message": "Of " + markedStreet}
	}
	return object{"brandId": brand, "productIds": []any{product}, "recipients": recipients}
}

// claim is what a player sends.
func claim(token, product string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token, ProductId: product,
		Recipient: &linksv1.ClaimRecipient{
			Name: markedName, Phone: markedPhone, Street: markedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE",
		},
	}
}
