//go:build faults

package faults_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// Marked values are personal data, which must be nowhere outside the sealed columns.
const (
	markedName   = "Zebedee Quillfeather"
	markedPhone  = "+46701112233"
	markedEmail  = "zebedee.quillfeather@example.org"
	markedStreet = "Kattfotsgränd 987"
)

// findPersonal describes a marked value in a text, as it is or as the database shows bytes.
func findPersonal(where, text string) string {
	for _, marked := range []string{markedName, markedPhone, markedEmail, markedStreet} {
		if strings.Contains(text, marked) || strings.Contains(text, hex.EncodeToString([]byte(marked))) {
			return where + " shows " + marked
		}
	}
	return ""
}

var (
	allScopes = []commonv1.Scope{
		commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS,
	}
	approver = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: seed.Approver, Name: "Felix Brandt"}
	staff    = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}
)

type object = map[string]any

func toJSON(o object) string {
	raw, err := json.Marshal(o)
	if err != nil {
		return err.Error() // The request is refused then.
	}
	return string(raw)
}

// orderBody places an order of the product for the brand.
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

// batchBody makes a number of links.
func batchBody(product, brand string, links int) object {
	recipients := make([]any, links)
	for i := range recipients {
		recipients[i] = object{"label": markedName, "message": "Of " + markedStreet}
	}
	return object{"brandId": brand, "productIds": []any{product}, "recipients": recipients}
}

// claim is the request of a player.
func claim(token, product string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token, ProductId: product,
		Recipient: &linksv1.ClaimRecipient{
			Name: markedName, Phone: markedPhone, Street: markedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE",
		},
	}
}
