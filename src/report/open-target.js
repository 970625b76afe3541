// For browsers that open no fold for a link by themselves.

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest('details');
  if (!fold || fold.open) return;
  fold.open = true;
  target?.scrollIntoView();
}

addEventListener('hashchange', openTarget);
openTarget();
