"use strict";
// The first question, unless the address of the page brings one (?q=…).
const first = `# Ctrl-Enter asks.
{
  search(query: "licenciement pendant un arrêt maladie", first: 3) {
    edges { node { number act { title } } snippet { text } }
  }
}
`;
const asked = new URLSearchParams(window.location.search).get("q");
const fetcher = GraphiQL.createFetcher({ url: window.location.pathname });
const editor = React.createElement(GraphiQL, { fetcher, defaultQuery: asked || first, shouldPersistHeaders: false });
ReactDOM.createRoot(document.getElementById("graphiql")).render(editor);
