// The state hook of the reference app, after docs/siblings/state-hook.md.

/** The hook: takes a request, gives its answer, or null for a verb that it does not have. Throws for a wrong one. */
export function stateHook(store, cursors, tokens) {
  const verbs = {
    load_world(prefix, { people, items }) {
      store.load(prefix, people, items);
      const made = store.of(prefix);
      const aliases = Object.fromEntries([
        ...made.map((item) => [item.alias, item.id]),
        ...people.map((person) => [person.alias, person.address]),
      ]);
      return { aliases, revisions: Object.fromEntries(made.map((item) => [item.alias, item.log.at(-1).revision])) };
    },
    edit: (prefix, { item, body, cells }) => ({ revision: store.edit(store.find(prefix, item), body, cells) }),
    move_rung: (prefix, { item, rung }) => store.move(store.find(prefix, item), rung),
    grant: (prefix, { item, person }) => store.find(prefix, item).granted.add(store.person(prefix, person)),
    revoke: (prefix, { item, person }) => store.find(prefix, item).granted.delete(store.person(prefix, person)),
    remove_person: (prefix, { item, person }) => store.find(prefix, item).removed.add(store.person(prefix, person)),
    restore_person: (prefix, { item, person }) => store.find(prefix, item).removed.delete(store.person(prefix, person)),
    delete: (prefix, { item }) => store.delete(store.find(prefix, item)),
    partial_restore(prefix, { item, steps, lose }) {
      if (lose) store.delete(store.find(prefix, item), { silently: true });
      else store.rewind(store.find(prefix, item), steps);
    },
    restore_to: (prefix) => store.restore(prefix),
    expire_cursor: (prefix, { consumer }) => cursors.expire(consumer),
    add_token: (prefix, { consumer, scope, token }) => tokens.add(consumer, scope, token),
    retire_tokens: (prefix, { consumer, scope, keep }) => tokens.retire(consumer, scope, keep),
    teardown: (prefix) => store.forget(prefix),
  };
  const silent = new Set(["grant", "revoke", "remove_person", "restore_person"]);
  return ({ state, params, action }) => {
    const verb = action === "teardown" ? "teardown" : state;
    if (!Object.hasOwn(verbs, verb)) return null;
    const answer = verbs[verb](params.prefix, params);
    return silent.has(verb) ? {} : (answer ?? {});
  };
}
