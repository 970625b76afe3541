// Opens the fold of a link's target, for browsers that do not.

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest('details');
  if (!fold || fold.open) return;
  fold.open = true;
  target?.scrollIntoView();
}

addEventListener('hashchange', openTarget);
openTarget();
