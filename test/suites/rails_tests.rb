# frozen_string_literal: true

# Load ActiveRecord's tests for PostgreSQL, but those that need more of Rails.
Dir["test/cases/**/*_test.rb"].grep_v(%r{/adapters/(?!postgresql/)}).sort.each do |file|
  require "./#{file}"
rescue LoadError => error
  puts "# #{file}: #{error}"
end
