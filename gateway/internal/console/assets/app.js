// The console: its state, and what the buttons do.

import { render } from "./lit-html-3.3.3/lit-html.js";
import { key, outcome, rate, request, send } from "./api.js";
import { follow, sleep } from "./feed.js";
import { add, addEvents, addLabel, clear, records } from "./records.js";
import * as samples from "./samples.js";
import * as view from "./view.js";

// reading says of each list whether it was read. filters are its text and its kind, and tab is the list that a phone shows.
const fresh = () => ({
  me: null, live: false, rate: null, last: null, auto: false, label: "Ann", notice: "", wrong: false,
  reading: {}, filters: {}, tab: "orders", shownCode: null,
});
let state = fresh();
let session = new AbortController();
let reading = new AbortController();
let unreadSince = null;

function draw(changes = {}) {
  Object.assign(state, changes);
  render(state.me ? view.page(state, on) : view.connect(state, on), document.getElementById("app"));
}

const counted = (headers) => ({ rate: rate(headers) ?? state.rate });
const say = (notice, wrong = false) => draw({ notice, wrong });
const mark = (list, how) => draw({ reading: { ...state.reading, [list]: how } });

// read reads what the page shows by itself.
async function read(path) {
  const { answer, headers } = await send(request("GET", path), session.signal);
  draw(counted(headers));
  return answer;
}

// show sends a call of the user, and shows it with its answer.
async function show(label, call) {
  const { signal } = session;
  draw({ last: call, notice: `${label}: waiting for the answer…`, wrong: false });
  try {
    const { status, answer, headers } = await send(call, signal);
    Object.assign(call, { status, answer, replayed: headers.get("Idempotent-Replayed") === "true" });
    add(answer);
    for (const { index, link } of answer.results ?? []) {
      add(link);
      if (link) addLabel(link, call.body.recipients[index].label);
    }
    const { says, wrong } = outcome(answer);
    draw({ ...counted(headers), notice: `${label}: ${says}`, wrong });
  } catch (error) {
    if (signal.aborted) return; // The key was forgotten, and the call with it.
    Object.assign(call, { status: error.status ?? "no answer", answer: error.problem });
    draw({ ...counted(error.headers), notice: `${label}: ${error.message}`, wrong: true });
  }
}

// failing runs what may fail, and says why it did.
async function failing(label, work) {
  const { signal } = session;
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) say(`${label}: ${error.message}`, true);
  }
}

// filling reads a list. What is read again is still shown meanwhile.
const filling = (list, label, work) => failing(label, async () => {
  try {
    await work();
    mark(list, "read");
  } catch (error) {
    if (!session.signal.aborted && state.reading[list] !== "read") mark(list, "failed");
    throw error;
  }
});

// readDeliveries reads them a little after the last event, when most attempts are made. A later call takes the place of this one, but
// not for ever: events that follow each other without a pause must not keep the list from being read.
async function readDeliveries() {
  reading.abort();
  const { signal } = (reading = new AbortController());
  unreadSince ??= Date.now();
  await sleep(Math.min(1.5, Math.max(0, 5 - (Date.now() - unreadSince) / 1000)), signal);
  if (!signal.aborted && !session.signal.aborted) {
    unreadSince = null;
    await filling("deliveries", "Webhook deliveries", async () => {
      records.deliveries = (await read("/webhooks/deliveries?limit=20")).items;
    });
  }
}

async function readRecords() {
  const { scopes } = state.me.key;
  for (const [list, scope, path] of [["orders", "ORDERS", "/orders"], ["links", "PERSONAL_LINKS", "/personal-links"]]) {
    if (!scopes.includes(scope)) mark(list, "forbidden");
    else await filling(list, "Records", async () => (await read(`${path}?limit=50`)).items.toReversed().forEach(add));
  }
}

async function open() {
  session = new AbortController();
  const { signal } = session;
  say("Checking the key…");
  await failing("Key", async () => draw({ me: await read("/me"), notice: "", wrong: false }));
  if (!state.me) return key.forget();
  readRecords();
  readDeliveries();
  follow(signal, (events, headers) => {
    addEvents(events);
    draw({ live: true, reading: { ...state.reading, events: "read" }, ...counted(headers) });
    if (events.length) readDeliveries();
  }, (error) => draw({ live: false, notice: `Event feed: ${error.message}`, wrong: true }));
}

const sampleOrder = () => samples.order(state.me.tenant, state.auto, read);

const on = {
  connect(value) {
    key.keep(value);
    open();
  },
  forget() {
    session.abort();
    reading.abort();
    unreadSince = null;
    key.forget();
    clear();
    state = fresh();
    draw();
  },
  // set changes what the page shows.
  set: draw,
  filter: (list, changes) => draw({ filters: { ...state.filters, [list]: { ...state.filters[list], ...changes } } }),
  copy: async (text, label) => failing(`Copy ${label}`, async () => {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${label}.`);
  }),
  act: async ({ label, path, body }) => {
    await show(label, request("POST", path, body));
    if (path.endsWith(":resend")) readDeliveries();
  },
  sampleOrder: () => failing("Sample order", async () => {
    draw({ tab: "orders" });
    await show("Sample order", request("POST", "/orders", await sampleOrder()));
  }),
  sampleLink: () => failing("Sample link", async () => {
    draw({ tab: "links" });
    const body = await samples.link(state.me.tenant, state.label || "Ann", state.auto, read);
    await show("Sample link", request("POST", "/personal-links:create-batch", body));
  }),
  force: (fault) => failing("Forced answer", async () =>
    show(`Forced answer ${fault}`, { ...request("POST", "/orders", await sampleOrder()), fault })),
  // repeat sends the last call as a client should after no answer: with its Idempotency-Key.
  repeat: ({ method, path, body, id }) => show("Repeat", { method, path, body, id }),
  loadStock: () => failing("Stock", async () => {
    say("Stock: reading…");
    const { items } = await read("/campaigns?status=ACTIVE&limit=10");
    records.campaigns = await Promise.all(items.map((campaign) => read(`/campaigns/${encodeURIComponent(campaign.id)}`)));
    say(records.campaigns.length ? "Stock: read." : "Stock: there is no active campaign.");
  }),
};

draw();
if (key.read()) open();
