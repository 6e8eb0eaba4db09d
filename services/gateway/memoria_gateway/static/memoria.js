// Live search and upload progress. Every page works without this file; it only saves a reload.
"use strict";

(() => {
  const field = document.getElementById("q");
  const region = document.getElementById("results");
  if (!field || !region) return;
  let timer = 0;
  let under = null;

  async function look() {
    const query = field.value;
    if (under) under.abort();
    under = new AbortController();
    const own = under;
    try {
      const reply = await fetch("/search?" + new URLSearchParams({ q: query }), { signal: own.signal, credentials: "same-origin" });
      if (reply.redirected || reply.status === 401) { location.reload(); return; }
      const html = await reply.text();
      if (own.signal.aborted) return;
      if (!reply.ok) {
        const said = new DOMParser().parseFromString(html, "text/html").querySelector("main p");
        refuse(said ? said.textContent : "");
        return;
      }
      region.innerHTML = html; // our own server's escaped template; scripts in it would not run under our policy
      const address = query.trim() ? "/?" + new URLSearchParams({ q: query }) : "/";
      history.replaceState(null, "", address);
      document.title = (query.trim() ? query + " · " : "") + "memoria";
      const back = document.querySelector("input[name=back]");
      if (back) back.value = address;
    } catch (error) {
      if (!own.signal.aborted) refuse("");
    }
  }

  // A search that failed says so: the rows of an earlier one would pass for its answer.
  function refuse(text) {
    const line = document.createElement("p");
    line.className = "notice";
    line.setAttribute("role", "status");
    line.textContent = text || "memoria cannot be reached. Try again in a moment.";
    region.replaceChildren(line);
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 180); // a typing pause, not a keystroke
  });
})();

(() => {
  const form = document.getElementById("upload");
  const list = document.getElementById("upload-list");
  if (!form || !list) return;

  function line(file) {
    const item = document.createElement("li");
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = file.name;
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", "Sent of " + file.name);
    const said = document.createElement("span");
    said.className = "said";
    said.textContent = "waiting";
    item.append(name, bar, said);
    list.append(item);
    return { item, bar, said };
  }

  function finish(row, good, text) {
    row.bar.remove();
    row.item.className = good ? "good" : "bad";
    row.said.textContent = text;
  }

  function send(file, row) {
    return new Promise((done) => {
      const body = new FormData();
      body.append("files", file, file.name);
      const request = new XMLHttpRequest(); // fetch cannot report what was sent
      request.open("POST", "/documents");
      request.setRequestHeader("Accept", "application/json");
      request.setRequestHeader("X-CSRF-Token", form.elements.csrf.value);
      row.said.textContent = "sending";
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) row.bar.value = event.loaded / event.total;
        if (event.loaded === event.total) row.said.textContent = "reading";
      });
      request.addEventListener("loadend", () => {
        let reply = {};
        try { reply = JSON.parse(request.responseText); } catch { reply = {}; }
        const report = reply.files ? reply.files[0] : null;
        if (!report) finish(row, false, reply.error ? reply.error.message : "This file could not be sent. Try it again.");
        else if (report.error) finish(row, false, report.error.message);
        else {
          finish(row, true, report.warnings.join(" "));
          for (const made of report.documents) {
            const link = document.createElement("a");
            link.href = made.link;
            link.textContent = made.title || "Untitled";
            row.said.append(" ", link);
          }
        }
        done();
      });
      request.send(body);
    });
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const files = [...form.elements.files.files];
    const rows = files.map(line);
    form.elements.files.value = "";
    for (let i = 0; i < files.length; i += 1) await send(files[i], rows[i]);
  });
})();
