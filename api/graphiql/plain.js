"use strict";
const form = document.getElementById("plain");
form.elements.query.value =
  '{\n  search(query: "licenciement pendant un arrêt maladie", first: 3) {\n    edges { node { number act { title } } snippet { text } }\n  }\n}\n';
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const shown = document.getElementById("answer");
  const asked = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query: form.elements.query.value }) };
  try {
    const answer = await fetch(window.location.pathname, asked);
    shown.textContent = JSON.stringify(await answer.json(), null, 2);
  } catch (error) {
    shown.textContent = String(error);
  }
});
