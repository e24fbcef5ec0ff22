// The page. Everything from the API is rendered as text.

import { html, nothing } from "./lit-html-3.3.3/lit-html.js";
import { repeat } from "./lit-html-3.3.3/directives/repeat.js";
import * as actions from "./actions.js";
import { curl } from "./api.js";
import { qr } from "./qr.js";
import { latest, records } from "./records.js";

const time = (text) => html`<time datetime=${text}>${new Date(text).toLocaleTimeString()}</time>`;
const status = (text) => html`<span class="status ${text.toLowerCase()}">${text}</span>`;
const field = (event, name) => new FormData(event.target).get(name);
const reference = () => html`<a href="${document.body.dataset.api}/docs/reference">API reference</a>`;

// submitted handles the submit event of a form, which then does not leave the page.
const submitted = (done) => (event) => {
  event.preventDefault();
  done(event);
};

export function connect(state, on) {
  return html`<main class="connect">
    <h1>Sandbox console</h1>
    <p>See the orders, links, events and webhook deliveries of a sandbox key live, and do what people do in production.</p>
    <form @submit=${submitted((event) => (on.connect(field(event, "key").trim()), event.target.reset()))}>
      <label for="key">API key of the sandbox</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="gft_sbx_…">
      <button class="primary">Open</button>
    </form>
    <p class="hint">The key stays in this tab. It is forgotten when you close the tab.</p>
    ${notice(state)}
    <p>${reference()}</p>
  </main>`;
}

const notice = (state) => html`<p role="status" class=${state.wrong ? "wrong" : "done"}>${state.notice}</p>`;

// The lists, with what each is called on a phone, its kinds, which it can be filtered by, and what stands in it when it is empty.
const lists = (state, on) => [
  {
    id: "orders", tab: "Orders", title: "Orders", items: latest(records.orders), kind: (order) => order.status,
    card: (order) => orderCard(order, on), none: "No order yet. Place a sample order.", scope: "ORDERS",
  },
  {
    id: "links", tab: "Links", title: "Personal links", items: latest(records.links), kind: (link) => link.status,
    card: (link) => linkCard(link, on, state), none: "No link yet. Create a sample link.", scope: "PERSONAL_LINKS",
  },
  {
    id: "events", tab: "Events", title: "Events", items: records.events, kind: (event) => event.type,
    card: (event) => eventCard(event, on), none: "No event yet. Each change of an order or link shows up here.",
  },
  {
    id: "deliveries", tab: "Webhooks", title: "Webhook deliveries", items: records.deliveries, kind: (delivery) => delivery.state,
    card: (delivery) => deliveryCard(delivery, on), none: "No delivery. The key needs a webhook URL, and gets no events of its own changes.",
    above: html`<p class="acts"><button @click=${() => on.act(actions.testWebhook)}>${actions.testWebhook.label}</button></p>`,
  },
];

export function page(state, on) {
  const all = lists(state, on);
  const tabs = [...all, { id: "stock", tab: "Stock" }, { id: "faults", tab: "Faults" }];
  return html`<a class="skip" href="#orders" @click=${() => on.set({ tab: "orders" })}>Skip to the orders</a>
    <header>
      <h1>Sandbox console</h1>
      <p>${state.me.tenant.name} · ${state.me.key.name} <code>${state.me.key.prefix}…</code></p>
      <p class="hint">${state.live ? "Live" : "Reading the feed…"}${state.rate ? ` · ${state.rate.left} of ${state.rate.limit} requests left` : nothing}</p>
      <nav>${reference()}<button @click=${on.forget}>Forget key</button></nav>
    </header>
    <main>
      <section class="start" aria-label="Samples">
        <button class="primary" @click=${() => on.sampleOrder()}>Place a sample order</button>
        <button class="primary" @click=${() => on.sampleLink()}>Create a sample link</button>
        <label>for <input class="label" maxlength="255" autocomplete="off" aria-label="Label of the sample link" .value=${state.label} @input=${(event) => on.set({ label: event.target.value })}></label>
        <label><input type="checkbox" .checked=${state.auto} @change=${(event) => on.set({ auto: event.target.checked })}> Let them go on by themselves</label>
      </section>
      ${notice(state)}
      <nav class="tabs" aria-label="Lists">${tabs.map(({ id, tab }) => html`<button data-tab=${id} aria-current=${state.tab === id} @click=${() => on.set({ tab: id })}>${tab}</button>`)}</nav>
      <div class="lists">
        ${all.map((list) => section(list, state, on))}
        ${stock(state, on)}
        ${faults(state, on)}
      </div>
    </main>
    ${lastRequest(state, on)}`;
}

const shown = (id, state) => (state.tab === id ? "shown" : "");

const section = (list, state, on) => {
  const { text = "", kind = "" } = state.filters[list.id] ?? {};
  const has = (item) => JSON.stringify([item, records.labels.get(item.id)]).toLowerCase().includes(text.trim().toLowerCase());
  const found = list.items.filter((item) => (!kind || list.kind(item) === kind) && has(item));
  const reading = state.reading[list.id];
  const count = found.length === list.items.length ? found.length : `${found.length} of ${list.items.length}`;
  return html`<section class=${shown(list.id, state)} aria-labelledby=${list.id} aria-busy=${!reading}>
    <h2 id=${list.id} tabindex="-1">${list.title} <span class="count">${reading ? count : nothing}</span></h2>
    ${list.above ?? nothing}
    ${list.items.length ? filter(list, text, kind, on) : nothing}
    ${found.length
      ? html`<ul tabindex="0" aria-labelledby=${list.id}>${repeat(found, (item) => item.id, (item) => html`<li>${list.card(item)}</li>`)}</ul>`
      : html`<p class="hint">${list.items.length ? "Nothing found among the newest." : empty(list, reading)}</p>`}
  </section>`;
};

const empty = (list, reading) => ({
  read: list.none, failed: "It could not be read.", forbidden: `The key lacks the scope ${list.scope}.`,
})[reading] ?? "Reading…";

const filter = (list, text, kind, on) => html`<form class="filter" role="search" aria-label=${list.title} @submit=${submitted(() => {})}>
  <input type="search" autocomplete="off" placeholder="Search" aria-label="Search ${list.title.toLowerCase()}" .value=${text} @input=${(event) => on.filter(list.id, { text: event.target.value })}>
  <select aria-label="Show only" @change=${(event) => on.filter(list.id, { kind: event.target.value })}>
    <option value="">All</option>
    ${[...new Set([...list.items.map(list.kind), ...(kind ? [kind] : [])])].sort().map((k) => html`<option .selected=${k === kind}>${k}</option>`)}
  </select>
</form>`;

const buttons = (of, name, on) => of.map((action) => html`<button aria-label="${action.label} ${name}" @click=${() => on.act(action)}>${action.label}</button>`);

// copy needs a page of https or of this machine. Elsewhere browsers have no clipboard.
const copy = (text, label, on) => (navigator.clipboard ? html`<button class="copy" aria-label="Copy ${label}" @click=${() => on.copy(text, label)}>Copy</button>` : nothing);

const orderCard = (order, on) => html`
  <p class="head"><strong>${order.reference}</strong>${status(order.status)}</p>
  <p>${order.items[0]?.productName} <span class="hint">to ${order.deliveryCountry}, ${time(order.updatedAt)}</span></p>
  ${order.shipments.map((s) => html`<p class="hint">${s.carrier} ${s.trackingReference}</p>`)}
  <p class="acts">${buttons(actions.ofOrder(order), order.reference, on)}</p>
  <details><summary>More<span class="unseen"> for ${order.reference}</span></summary>
    <p class="hint value"><code>${order.id}</code>${copy(order.id, `the id of ${order.reference}`, on)}</p>
    <form @submit=${submitted((event) => on.act(actions.correctStatus(order, field(event, "status"))))}>
      <label>Status <select name="status">${actions.statuses.map((s) => html`<option>${s}</option>`)}</select></label><button>Correct status</button>
    </form>
    <form @submit=${submitted((event) => (on.act(actions.postMessage(order, field(event, "body"))), event.target.reset()))}>
      <label>Message of the operator <input name="body" required maxlength="4000" autocomplete="off"></label><button>Post message</button>
    </form>
  </details>`;

const linkCard = (link, on, state) => {
  const name = `link ${link.id.slice(-12)}`;
  const label = records.labels.get(link.id);
  return html`
    <p class="head"><strong>${label ?? link.externalRecipientId ?? link.id.slice(-12)}</strong>${status(link.status)}</p>
    <p class="hint">${label ? link.externalRecipientId : nothing} ${time(link.updatedAt)}</p>
    ${link.status === "ACTIVE" ? claim(link, name, on, state) : nothing}
    <p class="acts">${buttons(actions.ofLink(link), name, on)}</p>`;
};

// A link is opened only if it is an address of the web.
const claim = ({ id, claimUrl }, name, on, state) => {
  if (!/^https?:\/\//.test(claimUrl)) return nothing;
  const code = state.shownCode === id && qr(claimUrl);
  return html`<p class="acts"><a href=${claimUrl} target="_blank" rel="noopener noreferrer">Open the gift site</a>
      ${copy(claimUrl, `the claim URL of ${name}`, on)}
      <button aria-expanded=${state.shownCode === id} aria-label="QR code of ${name}" @click=${() => on.set({ shownCode: state.shownCode === id ? null : id })}>QR code</button></p>
    ${code ? html`<svg class="code" role="img" aria-label="QR code of the claim URL" viewBox="-4 -4 ${code.size + 8} ${code.size + 8}"><path d="${code.path}"></path></svg>` : nothing}
    ${code === null ? html`<p class="hint">The claim URL is too long for a QR code.</p>` : nothing}`;
};

const json = (value, label) => html`<pre tabindex="0" role="region" aria-label=${label}>${JSON.stringify(value, null, 2)}</pre>`;

const subject = ({ data }) => (data.order ?? data).reference ?? data.externalRecipientId;
const eventCard = (event, on) => html`<details><summary>${event.type} <span class="hint">${subject(event)} ${time(event.occurredAt)}</span></summary>
  ${json(event, event.type)}${copy(JSON.stringify(event), `the event ${event.id}`, on)}</details>`;

const deliveryCard = (delivery, on) => html`
  <p class="head"><strong>${delivery.type}</strong>${status(delivery.state)}</p>
  ${delivery.attempts.map((a) => html`<p class="hint">${time(a.at)} ${a.status ?? a.error}, ${a.durationMs} ms ${a.responseBody ? html`<code>${a.responseBody}</code>` : nothing}</p>`)}
  ${delivery.nextAttemptAt ? html`<p class="hint">Next attempt ${time(delivery.nextAttemptAt)}</p>` : nothing}
  <p class="acts">${buttons([actions.resend(delivery)], `${delivery.type} ${delivery.id.slice(-12)}`, on)}</p>`;

const stock = (state, on) => html`<section class=${shown("stock", state)} aria-labelledby="stock">
  <h2 id="stock">Stock of campaigns</h2>
  <p class="acts"><button @click=${() => on.loadStock()}>Read the stock</button></p>
  ${records.campaigns.map((campaign) => html`<h3>${campaign.name}</h3>
    ${campaign.offerings.flatMap((offering) => offering.skus.filter((sku) => sku.stockRemaining !== null).map((sku) => html`
      <form @submit=${submitted((event) => on.act(actions.setStock(campaign, sku.id, Number(field(event, "left")))))}>
        <label>${offering.name} ${Object.values(sku.variations).join(", ")} <span class="hint">${sku.stockRemaining} left</span> <input name="left" type="number" min="0" required .value=${String(sku.stockRemaining)}></label>
        <button>Set stock</button>
      </form>`))}`)}
</section>`;

const faults = (state, on) => html`<section class=${shown("faults", state)} aria-labelledby="faults">
  <h2 id="faults">Forced answers</h2>
  <p class="hint">Each places a sample order with the header <code>Sandbox-Fault</code>. After <code>lost</code> and <code>timeout</code>, which takes 30 seconds, the order exists. Repeat the last request, as a client should.</p>
  <p class="acts">${actions.faults.map((fault) => html`<button @click=${() => on.force(fault)}>${fault}</button>`)}</p>
</section>`;

const lastRequest = ({ last }, on) => !last ? nothing : html`<aside aria-label="Last request">
  <details ?open=${matchMedia("(min-width: 60rem)").matches}>
    <summary>${last.method} ${last.path.split("?")[0]} <strong>${last.status ?? "…"}</strong></summary>
    ${last.replayed ? html`<p class="hint">Idempotent-Replayed: true. An earlier request with this key had the effect.</p>` : nothing}
    <p class="acts">${last.status ? html`<button @click=${() => on.repeat(last)}>Repeat with the same Idempotency-Key</button>` : nothing}</p>
    <div class="title"><h2>As curl</h2>${copy(curl(last), "the request as curl", on)}</div>
    <pre tabindex="0" role="region" aria-label="Request as curl">${curl(last)}</pre>
    <div class="title"><h2>Answer</h2>${copy(JSON.stringify(last.answer ?? {}, null, 2), "the answer", on)}</div>
    ${json(last.answer ?? {}, "Answer")}
  </details>
</aside>`;
