// The pages work without this script. It checks inputs in the server's words, sends a form once, and filters gifts in place.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const set = (node, name, value) => value ? node.setAttribute(name, value) : node.removeAttribute(name);

  // An input says in data-required and data-invalid what is wrong with it. The server decides: this only spares a page.
  const complaint = (input) => {
    const value = input.value.trim();
    if (value === "") return input.required ? input.dataset.required : "";
    return input.dataset.form && !new RegExp(input.dataset.form, "u").test(value) ? input.dataset.invalid : "";
  };
  const unusual = (input) => {
    const value = input.value.trim().normalize("NFKC");
    return value !== "" && input.dataset.likely && !new RegExp(`^(?:${input.dataset.likely})$`, "i").test(value) ? input.dataset.unusual : "";
  };
  // Shows words beside an input as the server does, or removes them.
  const say = (input, kind, words, prefix = "") => {
    let line = document.getElementById(`${input.id}-${kind}`);
    if (words === "") {
      line?.remove();
      return;
    }
    if (!line) {
      line = Object.assign(document.createElement("p"), { className: kind, id: `${input.id}-${kind}` });
      (input.closest(".with-prefix") ?? input).before(line);
    }
    if (line.textContent === prefix + words) return;
    line.replaceChildren(words);
    if (prefix) line.prepend(Object.assign(document.createElement("span"), { className: "unseen", textContent: prefix }));
  };
  // Removes what the list of errors says of inputs that have none any more.
  const tidy = () => {
    for (const link of all(".problems li a")) {
      const target = document.querySelector(link.hash);
      if (!target?.closest(".wrong") && !target?.querySelector(".wrong")) link.closest("li").remove();
    }
    for (const box of all(".problems[data-title]")) {
      if (box.querySelector("li")) continue;
      document.title = box.dataset.title;
      box.remove();
    }
  };
  // Removes the error of a choice, or of the country, once another one is made.
  const settle = (box) => {
    if (!box.classList.contains("wrong")) return;
    box.classList.remove("wrong");
    box.querySelector(".error").remove();
    for (const described of [box, ...all("[aria-invalid]", box)]) {
      if (described !== box) described.setAttribute("aria-invalid", "false");
      described.removeAttribute("aria-describedby");
    }
    tidy();
  };
  const describe = (input) => {
    const described = ["error", "advice", "prefix", "hint"].map((kind) => `${input.id}-${kind}`).filter((id) => document.getElementById(id)?.hidden === false);
    set(input, "aria-describedby", described.join(" "));
  };
  // For screen readers.
  const announced = Object.assign(document.createElement("p"), { className: "unseen", role: "status" });
  document.body.append(announced);
  // What moves the button waits until a tap is over.
  let pressed = false;
  const waiting = [];
  const release = () => {
    pressed = false;
    setTimeout(() => waiting.splice(0).forEach((act) => act()));
  };
  const afterTap = (act) => {
    waiting.push(act);
    if (!pressed) release();
  };
  addEventListener("pointerdown", () => { pressed = true; }, true);
  addEventListener("pointerup", release, true);
  addEventListener("pointercancel", release, true);
  const show = (input) => {
    const words = complaint(input) ?? "", advice = words === "" ? unusual(input) : "";
    say(input, "error", words, `${input.closest(".fields").dataset.error} `);
    say(input, "advice", advice);
    if (document.activeElement !== input) announced.textContent = words || advice;
    input.closest(".field").classList.toggle("wrong", words !== "");
    set(input, "aria-invalid", words && "true");
    describe(input);
    tidy();
  };
  const watch = () => {
    for (const input of all(".field [data-required], .field [data-form], .field [data-likely]")) {
      input.oninput = () => {
        if (input.getAttribute("aria-invalid") === "true" || document.getElementById(`${input.id}-advice`)) show(input);
      };
      input.onchange = () => afterTap(() => show(input));
    }
    // A number with a country code of its own needs none before it.
    for (const input of all(".with-prefix input")) {
      const look = () => {
        input.previousElementSibling.hidden = /^\s*(\+|00)/.test(input.value);
        describe(input);
      };
      input.addEventListener("input", look);
      input.addEventListener("change", look);
      look();
    }
  };
  watch();

  for (const box of all(".choices")) box.addEventListener("change", () => settle(box));

  // A thumbnail shows its picture and keeps the focus. It is marked while its picture is in view.
  const gallery = document.querySelector(".gallery"), thumbs = all(".thumbs a");
  for (const thumb of thumbs) {
    const frame = document.querySelector(thumb.hash);
    thumb.addEventListener("click", (event) => {
      event.preventDefault();
      frame.scrollIntoView({ block: "nearest", inline: "center" });
    });
    new IntersectionObserver((changes) => {
      set(thumb, "aria-current", changes.at(-1).isIntersecting && "true");
    }, { root: gallery, threshold: 0.6 }).observe(frame);
  }

  // The style sheet puts the picture first that shows what is picked.
  for (const picks of all("#picks")) {
    picks.addEventListener("change", (event) => {
      if (event.target.type === "radio") gallery.scrollTo({ left: 0 });
    });
  }

  // A value can be chosen if a combination with it and with those chosen above it is left.
  for (const picks of all("[data-left]")) {
    const groups = all("fieldset", picks).map((group) => all("input", group));
    const left = picks.dataset.left.split(" ").map((indexes) => indexes.split(",").map(Number));
    const narrow = () => {
      let open = left;
      groups.forEach((inputs, group) => {
        inputs.forEach((input, value) => {
          input.disabled = !open.some((indexes) => indexes[group] === value);
          if (input.disabled) input.checked = false;
        });
        const chosen = inputs.findIndex((input) => input.checked);
        if (chosen >= 0) open = open.filter((indexes) => indexes[group] === chosen);
      });
    };
    picks.addEventListener("change", narrow);
    addEventListener("pageshow", narrow);
    narrow();
  }

  // The picture of an ordered gift may no longer be public. Then only the wrapping paper is shown: some browsers draw a broken picture.
  for (const picture of all(".prize .picture")) {
    const lose = () => picture.closest(".prize").classList.add("lost");
    if (picture.complete && picture.naturalWidth === 0) lose();
    else picture.addEventListener("error", lose);
  }

  // Another country has another form. The list of countries stays, with the focus.
  const country = document.querySelector("select#country");
  const replaceAround = (old, fresh, list) => {
    old.className = fresh.className;
    if (old === country) return;
    const kept = [...old.children].find((child) => child.contains(country)), children = [...fresh.children];
    const at = children.findIndex((child) => child.contains(list));
    replaceAround(kept, children[at], list);
    for (const child of [...old.children]) if (child !== kept) child.remove();
    kept.before(...children.slice(0, at));
    kept.after(...children.slice(at + 1));
  };
  const followCountry = async () => {
    const form = country.form, use = form.querySelector('button[value="country"]'), chosen = country.value;
    const typed = () => String(new URLSearchParams(new FormData(form, use)));
    const posted = typed();
    if (sent.has(form)) return; // "Continue" also takes the country.
    const page = await fetch(form.action, { method: "POST", body: new URLSearchParams(posted), signal: AbortSignal.timeout?.(answerTimeout) })
      .then((answer) => answer.ok && answer.text()).catch(() => {});
    if (country.value !== chosen || sent.has(form)) return;
    if (!page) { // The network may be lost. The button that needs no script is shown.
      announced.textContent = use.textContent;
      return afterTap(() => use.classList.add("needed"));
    }
    const fresh = new DOMParser().parseFromString(page, "text/html"), list = fresh.querySelector("select#country");
    afterTap(() => {
      if (country.value !== chosen || sent.has(form)) return;
      if (list?.value !== chosen) return form.requestSubmit(use);
      const { id, value, selectionStart: caret } = document.activeElement;
      if (typed() !== posted) return followCountry(); // More was typed.
      replaceAround(form, list.form, list);
      const focused = id && document.getElementById(id);
      focused?.focus();
      if (focused && caret != null) {
        const behind = value.length - caret;
        if (focused.type !== "tel") focused.value = value; // A phone number has got the code of the country before.
        const at = Math.max(0, focused.value.length - behind);
        focused.setSelectionRange(at, at);
      }
      for (const name of ["aria-invalid", "aria-describedby"]) set(country, name, list.getAttribute(name));
      document.title = fresh.title;
      announced.textContent = list.dataset.followed;
      watch();
    });
  };
  let choosing = 0;
  country?.addEventListener("change", () => {
    settle(country.closest(".field"));
    clearTimeout(choosing);
    announced.textContent = "";
    if (country.value !== "") choosing = setTimeout(followCountry, 300); // The keys pass over countries that are not meant.
  });

  // A form is sent once. The button says that it is being sent. The form can be sent again after "back", and if no answer comes: the
  // network may be lost, and the player may have stopped the page.
  const sent = new WeakSet(), answerTimeout = 15000;
  const allow = (form) => {
    sent.delete(form);
    for (const button of all("button.pending", form)) {
      button.classList.remove("pending");
      button.removeAttribute("aria-disabled");
      button.textContent = button.dataset.words;
    }
  };
  for (const form of all("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (sent.has(form)) {
        event.preventDefault();
        return;
      }
      sent.add(form);
      setTimeout(allow, answerTimeout, form);
      const button = event.submitter;
      if (!button) return;
      button.dataset.words = button.textContent;
      button.setAttribute("aria-disabled", "true");
      button.classList.add("pending");
      if (button.dataset.pending) button.textContent = button.dataset.pending;
    });
    addEventListener("pageshow", () => allow(form));
  }

  // A link of a category hides the gifts of the others.
  const filters = all("[data-filter]");
  const filter = (chosen) => {
    for (const link of filters) {
      set(link, "aria-current", link.dataset.filter === chosen && "true");
    }
    for (const gift of all("[data-categories]")) {
      gift.hidden = chosen !== "" && !gift.dataset.categories.split(" ").includes(chosen);
    }
  };
  for (const link of filters) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      filter(link.dataset.filter);
      document.querySelector(".ask").textContent = link.dataset.heading;
      document.title = document.title.replace(/^.*?(?= – )/, () => link.dataset.heading);
      link.scrollIntoView({ block: "nearest", inline: "center" });
      history.replaceState(null, "", link.href);
    });
  }
})();
