// Bodies of a sample order and a sample link, from what the key can see. read returns the answer of a path.

const country = "SE";
const name = () => `console-${Date.now().toString(36)}`;

// gifts are those that can be sent to the country.
async function gifts(read) {
  const { items } = await read(`/catalog/products?country=${country}&limit=50`);
  return items.filter((gift) => gift.available);
}

async function brand(read) {
  const [first] = await read("/brands");
  if (!first) throw new Error("This key reaches no brand.");
  return first.id;
}

const answers = (fields) =>
  fields.filter((field) => field.required).map((field) => ({
    fieldId: field.id,
    ...(field.type === "CHECKBOX" ? { checked: true } : { textValue: field.options[0] ?? "Sample" }),
  }));

function item(gift, currency) {
  if (!gift) return { customProductName: "A football signed by the whole team", budget: { amount: "150.00", currency } };
  const variations = Object.fromEntries(gift.variations.map(({ dimension, values }) => [dimension, values[0]]));
  return { productId: gift.id, variations };
}

// order goes on by itself if auto is set.
export async function order(tenant, auto, read) {
  const [brandId, available] = await Promise.all([brand(read), gifts(read)]);
  return {
    externalOrderId: name(),
    externalRecipientId: "player-7",
    ...(auto && { externalActionRef: "sandbox:auto" }),
    brandId,
    items: [item(available[0], tenant.currency)],
    client: { name: "Ann Berg" },
    recipient: {
      name: "Ann Berg",
      phone: "+46701234567",
      address: { street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country },
    },
    customFields: answers(tenant.customFields),
  };
}

// link has a label, which its page shows. It goes on by itself if auto is set.
export async function link(tenant, label, auto, read) {
  const [brandId, available] = await Promise.all([brand(read), gifts(read)]);
  return {
    brandId,
    productIds: available.slice(0, 3).map((gift) => gift.id),
    recipients: [{
      label,
      message: "Happy birthday!",
      locale: tenant.locales[0],
      externalRecipientId: auto ? "sandbox:auto" : "player-7",
      customFields: answers(tenant.customFields),
    }],
  };
}
