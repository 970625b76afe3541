// node_modules/simple-statistics/dist/simple-statistics.mjs
/**
* Our default sum is the [Kahan-Babuska algorithm](https://pdfs.semanticscholar.org/1760/7d467cda1d0277ad272deb2113533131dc09.pdf).
* This method is an improvement over the classical
* [Kahan summation algorithm](https://en.wikipedia.org/wiki/Kahan_summation_algorithm).
* It aims at computing the sum of a list of numbers while correcting for
* floating-point errors. Traditionally, sums are calculated as many
* successive additions, each one with its own floating-point roundoff. These
* losses in precision add up as the number of numbers increases. This alternative
* algorithm is more accurate than the simple way of calculating sums by simple
* addition.
*
* This runs in `O(n)`, linear time, with respect to the length of the array.
*
* @param {Array<number>} x input
* @return {number} sum of all input numbers
* @example
* sum([1, 2, 3]); // => 6
*/
function sum(x) {
	if (x.length === 0) return 0;
	var sum = x[0];
	var correction = 0;
	var transition;
	if (typeof sum !== "number") return NaN;
	for (var i = 1; i < x.length; i++) {
		if (typeof x[i] !== "number") return NaN;
		transition = sum + x[i];
		if (Math.abs(sum) >= Math.abs(x[i])) correction += sum - transition + x[i];
		else correction += x[i] - transition + sum;
		sum = transition;
	}
	return sum + correction;
}
/**
* The mean, _also known as average_,
* is the sum of all values over the number of values.
* This is a [measure of central tendency](https://en.wikipedia.org/wiki/Central_tendency):
* a method of finding a typical or central value of a set of numbers.
*
* This runs in `O(n)`, linear time, with respect to the length of the array.
*
* @param {Array<number>} x sample of one or more data points
* @throws {Error} if the length of x is less than one
* @returns {number} mean
* @example
* mean([0, 10]); // => 5
*/
function mean(x) {
	if (x.length === 0) throw new Error("mean requires at least one data point");
	return sum(x) / x.length;
}
/**
* The sum of deviations to the Nth power.
* When n=2 it's the sum of squared deviations.
* When n=3 it's the sum of cubed deviations.
*
* @param {Array<number>} x
* @param {number} n power
* @returns {number} sum of nth power deviations
*
* @example
* var input = [1, 2, 3];
* // since the variance of a set is the mean squared
* // deviations, we can calculate that with sumNthPowerDeviations:
* sumNthPowerDeviations(input, 2) / input.length;
*/
function sumNthPowerDeviations(x, n) {
	var meanValue = mean(x);
	var sum = 0;
	var tempValue;
	var i;
	if (n === 2) for (i = 0; i < x.length; i++) {
		tempValue = x[i] - meanValue;
		sum += tempValue * tempValue;
	}
	else for (i = 0; i < x.length; i++) sum += Math.pow(x[i] - meanValue, n);
	return sum;
}
/**
* The [sample variance](https://en.wikipedia.org/wiki/Variance#Sample_variance)
* is the sum of squared deviations from the mean. The sample variance
* is distinguished from the variance by the usage of [Bessel's Correction](https://en.wikipedia.org/wiki/Bessel's_correction):
* instead of dividing the sum of squared deviations by the length of the input,
* it is divided by the length minus one. This corrects the bias in estimating
* a value from a set that you don't know if full.
*
* References:
* * [Wolfram MathWorld on Sample Variance](http://mathworld.wolfram.com/SampleVariance.html)
*
* @param {Array<number>} x a sample of two or more data points
* @throws {Error} if the length of x is less than 2
* @return {number} sample variance
* @example
* sampleVariance([1, 2, 3, 4, 5]); // => 2.5
*/
function sampleVariance(x) {
	if (x.length < 2) throw new Error("sampleVariance requires at least two data points");
	return sumNthPowerDeviations(x, 2) / (x.length - 1);
}
/**
* The [sample standard deviation](http://en.wikipedia.org/wiki/Standard_deviation#Sample_standard_deviation)
* is the square root of the sample variance.
*
* @param {Array<number>} x input array
* @returns {number} sample standard deviation
* @example
* sampleStandardDeviation([2, 4, 4, 4, 5, 5, 7, 9]).toFixed(2);
* // => '2.14'
*/
function sampleStandardDeviation(x) {
	var sampleVarianceX = sampleVariance(x);
	return Math.sqrt(sampleVarianceX);
}
/**
* The [Geometric Mean](https://en.wikipedia.org/wiki/Geometric_mean) is
* a mean function that is more useful for numbers in different
* ranges.
*
* This is the nth root of the input numbers multiplied by each other.
*
* The geometric mean is often useful for
* **[proportional growth](https://en.wikipedia.org/wiki/Geometric_mean#Proportional_growth)**: given
* growth rates for multiple years, like _80%, 16.66% and 42.85%_, a simple
* mean will incorrectly estimate an average growth rate, whereas a geometric
* mean will correctly estimate a growth rate that, over those years,
* will yield the same end value.
*
* This runs in `O(n)`, linear time, with respect to the length of the array.
*
* @param {Array<number>} x sample of one or more data points
* @returns {number} geometric mean
* @throws {Error} if x is empty
* @throws {Error} if x contains a negative number
* @example
* var growthRates = [1.80, 1.166666, 1.428571];
* var averageGrowth = ss.geometricMean(growthRates);
* var averageGrowthRates = [averageGrowth, averageGrowth, averageGrowth];
* var startingValue = 10;
* var startingValueMean = 10;
* growthRates.forEach(function(rate) {
*   startingValue *= rate;
* });
* averageGrowthRates.forEach(function(rate) {
*   startingValueMean *= rate;
* });
* startingValueMean === startingValue;
*/
function geometricMean(x) {
	if (x.length === 0) throw new Error("geometricMean requires at least one data point");
	var value = 1;
	for (var i = 0; i < x.length; i++) {
		if (x[i] < 0) throw new Error("geometricMean requires only non-negative numbers as input");
		value *= x[i];
	}
	return Math.pow(value, 1 / x.length);
}
/**
* This is the internal implementation of quantiles: when you know
* that the order is sorted, you don't need to re-sort it, and the computations
* are faster.
*
* This implements the linear interpolation method (type=7 in R/numpy),
* which is the default in numpy.percentile and R's quantile.
*
* @param {Array<number>} x sample of one or more data points
* @param {number} p desired quantile: a number between 0 to 1, inclusive
* @returns {number} quantile value
* @throws {Error} if p ix outside of the range from 0 to 1
* @throws {Error} if x is empty
* @example
* quantileSorted([3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20], 0.5); // => 9
*/
function quantileSorted(x, p) {
	var idx = (x.length - 1) * p;
	if (x.length === 0) throw new Error("quantile requires at least one data point.");
	else if (p < 0 || p > 1) throw new Error("quantiles must be between 0 and 1");
	else if (p === 1) return x[x.length - 1];
	else if (p === 0) return x[0];
	else if (idx % 1 !== 0) {
		var lower = Math.floor(idx);
		var upper = Math.ceil(idx);
		var fraction = idx - lower;
		return x[lower] + fraction * (x[upper] - x[lower]);
	} else return x[idx];
}
/**
* Rearrange items in `arr` so that all items in `[left, k]` range are the smallest.
* The `k`-th element will have the `(k - left + 1)`-th smallest value in `[left, right]`.
*
* Implements Floyd-Rivest selection algorithm https://en.wikipedia.org/wiki/Floyd-Rivest_algorithm
*
* @param {Array<number>} arr input array
* @param {number} k pivot index
* @param {number} [left] left index
* @param {number} [right] right index
* @returns {void} mutates input array
* @example
* var arr = [65, 28, 59, 33, 21, 56, 22, 95, 50, 12, 90, 53, 28, 77, 39];
* quickselect(arr, 8);
* // = [39, 28, 28, 33, 21, 12, 22, 50, 53, 56, 59, 65, 90, 77, 95]
*/
function quickselect(arr, k, left, right) {
	left = left || 0;
	right = right || arr.length - 1;
	while (right > left) {
		if (right - left > 600) {
			var n = right - left + 1;
			var m = k - left + 1;
			var z = Math.log(n);
			var s = .5 * Math.exp(2 * z / 3);
			var sd = .5 * Math.sqrt(z * s * (n - s) / n);
			if (m - n / 2 < 0) sd *= -1;
			quickselect(arr, k, Math.max(left, Math.floor(k - m * s / n + sd)), Math.min(right, Math.floor(k + (n - m) * s / n + sd)));
		}
		var t = arr[k];
		var i = left;
		var j = right;
		swap(arr, left, k);
		if (arr[right] > t) swap(arr, left, right);
		while (i < j) {
			swap(arr, i, j);
			i++;
			j--;
			while (arr[i] < t) i++;
			while (arr[j] > t) j--;
		}
		if (arr[left] === t) swap(arr, left, j);
		else {
			j++;
			swap(arr, j, right);
		}
		if (j <= k) left = j + 1;
		if (k <= j) right = j - 1;
	}
}
function swap(arr, i, j) {
	var tmp = arr[i];
	arr[i] = arr[j];
	arr[j] = tmp;
}
/**
* The [quantile](https://en.wikipedia.org/wiki/Quantile):
* this is a population quantile, since we assume to know the entire
* dataset in this library. This implementation uses linear interpolation,
* equivalent to R's type=7 and numpy's default percentile method.
*
* Sample is a one-dimensional array of numbers,
* and p is either a decimal number from 0 to 1 or an array of decimal
* numbers from 0 to 1.
* In terms of a k/q quantile, p = k/q - it's just dealing with fractions or dealing
* with decimal values.
* When p is an array, the result of the function is also an array containing the appropriate
* quantiles in input order
*
* @param {Array<number>} x sample of one or more numbers
* @param {Array<number> | number} p the desired quantile, as a number between 0 and 1
* @returns {number} quantile
* @example
* quantile([3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20], 0.5); // => 9
*/
function quantile$1(x, p) {
	var copy = x.slice();
	if (Array.isArray(p)) {
		multiQuantileSelect(copy, p);
		var results = [];
		for (var i = 0; i < p.length; i++) results[i] = quantileSorted(copy, p[i]);
		return results;
	} else {
		quantileSelect(copy, quantileIndex(copy.length, p), 0, copy.length - 1);
		return quantileSorted(copy, p);
	}
}
function quantileSelect(arr, k, left, right) {
	if (k % 1 === 0) quickselect(arr, k, left, right);
	else {
		k = Math.floor(k);
		quickselect(arr, k, left, right);
		quickselect(arr, k + 1, k + 1, right);
	}
}
function multiQuantileSelect(arr, p) {
	var positions = /* @__PURE__ */ new Set();
	for (var i = 0; i < p.length; i++) {
		var idx = quantileIndex(arr.length, p[i]);
		positions.add(Math.floor(idx));
		positions.add(Math.ceil(idx));
	}
	var indices = Array.from(positions).sort(compare);
	multiselect(arr, indices, 0, indices.length - 1, 0, arr.length - 1);
}
function multiselect(arr, indices, lo, hi, left, right) {
	if (lo > hi) return;
	var mid = lo + hi >> 1;
	quickselect(arr, indices[mid], left, right);
	multiselect(arr, indices, lo, mid - 1, left, indices[mid] - 1);
	multiselect(arr, indices, mid + 1, hi, indices[mid] + 1, right);
}
function compare(a, b) {
	return a - b;
}
function quantileIndex(len, p) {
	var idx = (len - 1) * p;
	if (p === 1) return len - 1;
	else if (p === 0) return 0;
	else if (idx % 1 !== 0) return idx;
	else return idx;
}
/**
* The [median](http://en.wikipedia.org/wiki/Median) is
* the middle number of a list. This is often a good indicator of 'the middle'
* when there are outliers that skew the `mean()` value.
* This is a [measure of central tendency](https://en.wikipedia.org/wiki/Central_tendency):
* a method of finding a typical or central value of a set of numbers.
*
* The median isn't necessarily one of the elements in the list: the value
* can be the average of two elements if the list has an even length
* and the two central values are different.
*
* @param {Array<number>} x input
* @returns {number} median value
* @example
* median([10, 2, 5, 100, 2, 1]); // => 3.5
*/
function median(x) {
	return +quantile$1(x, .5);
}
/**
* The [Median Absolute Deviation](http://en.wikipedia.org/wiki/Median_absolute_deviation) is
* a robust measure of statistical
* dispersion. It is more resilient to outliers than the standard deviation.
*
* @param {Array<number>} x input array
* @returns {number} median absolute deviation
* @example
* medianAbsoluteDeviation([1, 1, 2, 2, 4, 6, 9]); // => 1
*/
function medianAbsoluteDeviation(x) {
	var medianValue = median(x);
	var medianAbsoluteDeviations = [];
	for (var i = 0; i < x.length; i++) medianAbsoluteDeviations.push(Math.abs(x[i] - medianValue));
	return median(medianAbsoluteDeviations);
}
/**
* [Bayesian Classifier](http://en.wikipedia.org/wiki/Naive_Bayes_classifier)
*
* This is a naïve bayesian classifier that takes
* singly-nested objects.
*
* @class
* @example
* var bayes = new BayesianClassifier();
* bayes.train({
*   species: 'Cat'
* }, 'animal');
* var result = bayes.score({
*   species: 'Cat'
* })
* // result
* // {
* //   animal: 1
* // }
*/
var BayesianClassifier = function BayesianClassifier() {
	this.totalCount = 0;
	this.data = {};
};
/**
* Train the classifier with a new item, which has a single
* dimension of Javascript literal keys and values.
*
* @param {Object} item an object with singly-deep properties
* @param {string} category the category this item belongs to
* @return {undefined} adds the item to the classifier
*/
BayesianClassifier.prototype.train = function train(item, category) {
	if (!this.data[category]) this.data[category] = {};
	for (var k in item) {
		var v = item[k];
		if (this.data[category][k] === void 0) this.data[category][k] = {};
		if (this.data[category][k][v] === void 0) this.data[category][k][v] = 0;
		this.data[category][k][v]++;
	}
	this.totalCount++;
};
/**
* Generate a score of how well this item matches all
* possible categories based on its attributes
*
* @param {Object} item an item in the same format as with train
* @returns {Object} of probabilities that this item belongs to a
* given category.
*/
BayesianClassifier.prototype.score = function score(item) {
	var odds = {};
	var category;
	for (var k in item) {
		var v = item[k];
		for (category in this.data) {
			if (odds[category] === void 0) odds[category] = {};
			if (this.data[category][k]) odds[category][k + "_" + v] = (this.data[category][k][v] || 0) / this.totalCount;
			else odds[category][k + "_" + v] = 0;
		}
	}
	var oddsSums = {};
	for (category in odds) {
		oddsSums[category] = 0;
		for (var combination in odds[category]) oddsSums[category] += odds[category][combination];
	}
	return oddsSums;
};
var COEFFICIENTS = [
	.9999999999999971,
	57.15623566586292,
	-59.59796035547549,
	14.136097974741746,
	-.4919138160976202,
	3399464998481189e-20,
	4652362892704858e-20,
	-9837447530487956e-20,
	.0001580887032249125,
	-.00021026444172410488,
	.00021743961811521265,
	-.0001643181065367639,
	8441822398385275e-20,
	-26190838401581408e-21,
	36899182659531625e-22
];
var g = 607 / 128;
var LOGSQRT2PI = Math.log(Math.sqrt(2 * Math.PI));
/**
* Compute the logarithm of the [gamma function](https://en.wikipedia.org/wiki/Gamma_function) of a value using Lanczos' approximation.
* This function takes as input any real-value n greater than 0.
* This function is useful for values of n too large for the normal gamma function (n > 165).
* The code is based on Lanczo's Gamma approximation, defined [here](http://my.fit.edu/~gabdo/gamma.txt).
*
* @param {number} n Any real number greater than zero.
* @returns {number} The logarithm of gamma of the input value.
*
* @example
* gammaln(500); // 2605.1158503617335
* gammaln(2.4); // 0.21685932244884043
*/
function gammaln(n) {
	if (n <= 0) return Number.POSITIVE_INFINITY;
	n--;
	var a = COEFFICIENTS[0];
	for (var i = 1; i < 15; i++) a += COEFFICIENTS[i] / (n + i);
	var tmp = g + .5 + n;
	return LOGSQRT2PI + Math.log(a) - tmp + (n + .5) * Math.log(tmp);
}
var SQRT_2PI$1 = Math.sqrt(2 * Math.PI);
function cumulativeDistribution(z) {
	var sum = z;
	var tmp = z;
	for (var i = 1; i < 30; i++) {
		tmp *= z * z / (2 * i + 1);
		sum += tmp;
	}
	return Math.round((.5 + sum / SQRT_2PI$1 * Math.exp(-z * z / 2)) * 1e4) / 1e4;
}
/**
* A standard normal table, also called the unit normal table or Z table,
* is a mathematical table for the values of Φ (phi), which are the values of
* the [cumulative distribution function](https://en.wikipedia.org/wiki/Normal_distribution#Cumulative_distribution_function)
* of the normal distribution. It is used to find the probability that a
* statistic is observed below, above, or between values on the standard
* normal distribution, and by extension, any normal distribution.
*/
var standardNormalTable = [];
for (var z = 0; z <= 3.09; z += .01) standardNormalTable.push(cumulativeDistribution(z));
/**
* **[Gaussian error function](http://en.wikipedia.org/wiki/Error_function)**
*
* The `errorFunction(x/(sd * Math.sqrt(2)))` is the probability that a value in a
* normal distribution with standard deviation sd is within x of the mean.
*
* This function returns a numerical approximation to the exact value.
* It uses Horner's method to evaluate the polynomial of τ (tau).
*
* @param {number} x input
* @return {number} error estimation
* @example
* errorFunction(1).toFixed(2); // => '0.84'
*/
function errorFunction(x) {
	var t = 1 / (1 + .5 * Math.abs(x));
	var tau = t * Math.exp(-x * x + ((((((((.17087277 * t - .82215223) * t + 1.48851587) * t - 1.13520398) * t + .27886807) * t - .18628806) * t + .09678418) * t + .37409196) * t + 1.00002368) * t - 1.26551223);
	if (x >= 0) return 1 - tau;
	else return tau - 1;
}
/**
* This is a single-layer [Perceptron Classifier](http://en.wikipedia.org/wiki/Perceptron) that takes
* arrays of numbers and predicts whether they should be classified
* as either 0 or 1 (negative or positive examples).
* @class
* @example
* // Create the model
* var p = new PerceptronModel();
* // Train the model with input with a diagonal boundary.
* for (var i = 0; i < 5; i++) {
*     p.train([1, 1], 1);
*     p.train([0, 1], 0);
*     p.train([1, 0], 0);
*     p.train([0, 0], 0);
* }
* p.predict([0, 0]); // 0
* p.predict([0, 1]); // 0
* p.predict([1, 0]); // 0
* p.predict([1, 1]); // 1
*/
var PerceptronModel = function PerceptronModel() {
	this.weights = [];
	this.bias = 0;
};
/**
* **Predict**: Use an array of features with the weight array and bias
* to predict whether an example is labeled 0 or 1.
*
* @param {Array<number>} features an array of features as numbers
* @returns {number|null} 1 if the score is over 0, otherwise 0; null if
* the model has not been trained on feature arrays of this length
*/
PerceptronModel.prototype.predict = function predict(features) {
	if (features.length !== this.weights.length) return null;
	var score = 0;
	for (var i = 0; i < this.weights.length; i++) score += this.weights[i] * features[i];
	score += this.bias;
	if (score > 0) return 1;
	else return 0;
};
/**
* **Train** the classifier with a new example, which is
* a numeric array of features and a 0 or 1 label.
*
* @param {Array<number>} features an array of features as numbers
* @param {number} label either 0 or 1
* @returns {PerceptronModel|null} this, or null if the label is not 0 or 1
*/
PerceptronModel.prototype.train = function train(features, label) {
	if (label !== 0 && label !== 1) return null;
	if (features.length !== this.weights.length) {
		this.weights = features.slice();
		this.bias = 1;
	}
	var prediction = this.predict(features);
	if (typeof prediction === "number" && prediction !== label) {
		var gradient = label - prediction;
		for (var i = 0; i < this.weights.length; i++) this.weights[i] += gradient * features[i];
		this.bias += gradient;
	}
	return this;
};

// src/stats/student.ts
const confidencePercents = [
	80,
	90,
	95,
	98,
	99,
	99.5
];
/**
* The critical value that ministat(1) uses: its table has three decimals and rows for 1 to 100
* degrees of freedom; above 100 it uses the normal distribution.
*
* The table is the NIST handbook's of one-sided values, and ministat's last column is the one of
* 0.999: what it calls 99.5 % is 99.8 % two-sided. We keep that, or our errors would not be its errors.
*/
function studentT(degreesOfFreedom, confidencePercent) {
	const misprint = confidencePercent === 99.5 ? misprints.get(degreesOfFreedom) : void 0;
	if (misprint !== void 0) return misprint;
	const confidence = confidencePercent === 99.5 ? .998 : confidencePercent / 100;
	return Math.round(studentTExact(degreesOfFreedom > 100 ? Infinity : degreesOfFreedom, confidence) * 1e3) / 1e3;
}
/**
* The t with P(|T| ≤ t) = confidence, to a relative 1e-9 or better.
* `degreesOfFreedom` is any positive number (Welch's are fractions; infinity is the normal
* distribution), `confidence` a ratio in (0, 1).
*/
function studentTExact(degreesOfFreedom, confidence) {
	if (!(degreesOfFreedom > 0)) throw new RangeError(`Degrees of freedom are a positive number, not ${degreesOfFreedom}.`);
	if (!(confidence > 0 && confidence < 1)) throw new RangeError(`A confidence lies between 0 and 1, not at ${confidence}.`);
	if (degreesOfFreedom <= million) return quantile(degreesOfFreedom, confidence);
	const atMillion = quantile(million, confidence);
	const atInfinity = 2 * atMillion - quantile(million / 2, confidence);
	return atInfinity + (atMillion - atInfinity) * (million / degreesOfFreedom);
}
/** The t with P(T > t) = `level`, kept once computed: few of them are asked for, and each very often. */
function criticalT(degreesOfFreedom, level) {
	const key = `${degreesOfFreedom} ${level}`;
	const known = criticalValues.get(key);
	if (known !== void 0) return known;
	const t = studentTExact(degreesOfFreedom, 1 - 2 * level);
	criticalValues.set(key, t);
	return t;
}
const criticalValues = /* @__PURE__ */ new Map();
/**
* P(T > t), one-sided, for a `t` of at least 0. The normal distribution (infinite degrees of freedom) is
* taken from an approximation of erfc whose relative error is below 2e-7.
*/
function studentTail(t, degreesOfFreedom) {
	if (degreesOfFreedom === Infinity) return (1 - errorFunction(t / Math.SQRT2)) / 2;
	const { inTails, within } = twoSided(t, degreesOfFreedom);
	return (inTails ?? 1 - within) / 2;
}
/** Degrees of freedom at which the published last column is not the rounded quantile. */
const misprints = /* @__PURE__ */ new Map([
	[1, 318.313],
	[7, 4.782],
	[8, 4.499],
	[9, 4.296],
	[10, 4.143],
	[11, 4.024],
	[12, 3.929]
]);
const million = 1e6;
function quantile(degreesOfFreedom, confidence) {
	let high = 1;
	while (liesBelow(high, degreesOfFreedom, confidence)) high *= 2;
	let low = high === 1 ? 0 : high / 2;
	for (;;) {
		const middle = (low + high) / 2;
		if (middle <= low || middle >= high) return high;
		if (liesBelow(middle, degreesOfFreedom, confidence)) low = middle;
		else high = middle;
	}
}
function liesBelow(t, degreesOfFreedom, confidence) {
	const { inTails, within } = twoSided(t, degreesOfFreedom);
	return inTails === void 0 ? within < confidence : inTails > 1 - confidence;
}
/**
* P(|T| > t) or P(|T| ≤ t), whichever is told without a loss of digits: a regularized incomplete beta
* function of ν/2 and 1/2, whose continued fraction converges fast on one side of the mean.
*/
function twoSided(t, degreesOfFreedom) {
	const a = degreesOfFreedom / 2;
	const square = t * t;
	const beyond = degreesOfFreedom / (degreesOfFreedom + square);
	const within = square / (degreesOfFreedom + square);
	const factor = Math.exp(-a * Math.log1p(square / degreesOfFreedom)) * Math.sqrt(within / Math.PI) * gammaRatio(a);
	return beyond < (a + 1) / (a + 2.5) ? { inTails: factor / a * betaFraction(beyond, a, .5) } : { within: 2 * factor * betaFraction(within, .5, a) };
}
/** Γ(a + 1/2) / Γ(a), by its asymptotic series (DLMF 5.11.13) after stepping up to where that is exact. */
function gammaRatio(a) {
	let stepped = a;
	let correction = 1;
	for (; stepped < 40; stepped += 1) correction *= stepped / (stepped + .5);
	const x = 1 / stepped;
	const series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - 399 / 262144 * x))));
	return correction * Math.sqrt(stepped) * series;
}
/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x, a, b) {
	const tiny = 1e-300;
	let c = 1;
	let d = 1 / (1 - (a + b) * x / (a + 1) || tiny);
	let fraction = d;
	for (let m = 1; m < 1e5; m += 1) {
		const before = fraction;
		const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		for (const term of [even, odd]) {
			d = 1 / (1 + term * d || tiny);
			c = 1 + term / c || tiny;
			fraction *= c * d;
		}
		if (Math.abs(fraction - before) <= 1e-15 * fraction) return fraction;
	}
	return fraction;
}

export { studentTail as a, mean as c, quantileSorted as d, sampleStandardDeviation as f, studentTExact as i, median as l, sumNthPowerDeviations as m, criticalT as n, gammaln as o, sum as p, studentT as r, geometricMean as s, confidencePercents as t, medianAbsoluteDeviation as u };