// Adds ages to the times of a page, since a static page cannot contain them.
import { daySeconds } from './chart.js';

for (const element of document.querySelectorAll('time')) {
  const seconds = (Date.now() - Date.parse(element.dateTime)) / 1000;
  if (seconds < 0) continue;
  const days = Math.floor(seconds / daySeconds);
  const hours = Math.floor(seconds / 3600);
  element.title = days >= 2 ? `${days} days ago` : hours >= 1 ? `${hours} h ago` : 'just now';
  if (element.closest('.late-matters')) {
    element.append(` (${element.title})`);
    if (days >= 3) element.classList.add('late');
  }
}
